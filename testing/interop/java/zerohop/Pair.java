package zerohop;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.tools.DFSHAAdmin;
import org.apache.hadoop.util.ToolRunner;

/**
 * Drives two NameNodes with Apache's client and haadmin: {@code Pair CONF_DIR}. A line of standard input is a command with
 * spaces between its words; the answer is a line that begins with {@code ok} or {@code failed}.
 *
 * <p>{@code admin WORDS...} runs haadmin, {@code mkdirs PREFIX COUNT} makes PREFIX0, PREFIX1, ..., {@code list DIR} lists
 * names in order. {@code observe PREFIX COUNT} makes directories as a client that reads from observers, and looks at each;
 * {@code observed DIR} lists names with the client that {@code observe} has made.
 */
public final class Pair {
  private static FileSystem observing;

  private Pair() {}

  private static String admin(Configuration conf, String[] words) throws Exception {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream both = new PrintStream(said, true, StandardCharsets.UTF_8);
    System.setOut(both);
    System.setErr(both);
    int code;
    try {
      code = ToolRunner.run(conf, new DFSHAAdmin(), words);
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
    String text = said.toString(StandardCharsets.UTF_8).trim().replace('\n', ' ');
    return code == 0 ? "ok " + text : "failed " + code + " " + text;
  }

  private static String names(FileSystem fs, String directory) throws Exception {
    TreeSet<String> names = new TreeSet<>();
    for (FileStatus status : fs.listStatus(new Path(directory))) {
      names.add(status.getPath().getName());
    }
    List<String> sorted = new ArrayList<>(names);
    return "ok " + String.join(" ", sorted);
  }

  private static String answer(Configuration conf, String[] words) throws Exception {
    String[] rest = java.util.Arrays.copyOfRange(words, 1, words.length);
    if (words[0].equals("admin")) {
      return admin(conf, rest);
    }
    if (words[0].equals("observe")) {
      Configuration own = new Configuration(conf);
      own.set(
          "dfs.client.failover.proxy.provider.ns",
          "org.apache.hadoop.hdfs.server.namenode.ha.ObserverReadProxyProvider");
      // A probe on a connection to the process that was there before fails, and is else not repeated for ten minutes: all reads
      // would go to the active NameNode.
      own.set("dfs.client.failover.observer.probe.retry.period", "0");
      observing = FileSystem.newInstance(new Path(words[1]).toUri(), own);
      for (int i = 0; i < Integer.parseInt(words[2]); i++) {
        Path path = new Path(words[1] + i);
        if (!observing.mkdirs(path) || !observing.exists(path)) {
          return "failed " + path;
        }
      }
      return "ok";
    }
    if (words[0].equals("observed")) {
      return names(observing, words[1]);
    }
    try (FileSystem fs = FileSystem.newInstance(new Path(words[1]).toUri(), conf)) {
      switch (words[0]) {
        case "mkdirs":
          for (int i = 0; i < Integer.parseInt(words[2]); i++) {
            if (!fs.mkdirs(new Path(words[1] + i))) {
              return "failed " + words[1] + i;
            }
          }
          return "ok";
        case "list":
          return names(fs, words[1]);
        default:
          throw new IllegalArgumentException(words[0]);
      }
    }
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = Daemon.conf(args[0]);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String answer;
      try {
        answer = answer(conf, line.split(" "));
      } catch (Throwable failure) {
        answer = "failed " + String.valueOf(failure).replace('\n', ' ');
      }
      System.out.println(answer);
      System.out.flush();
    }
    System.exit(0);
  }
}
