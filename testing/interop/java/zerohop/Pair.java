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
 * names in order.
 */
public final class Pair {
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

  private static String answer(Configuration conf, String[] words) throws Exception {
    String[] rest = java.util.Arrays.copyOfRange(words, 1, words.length);
    if (words[0].equals("admin")) {
      return admin(conf, rest);
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
          TreeSet<String> names = new TreeSet<>();
          for (FileStatus status : fs.listStatus(new Path(words[1]))) {
            names.add(status.getPath().getName());
          }
          List<String> sorted = new ArrayList<>(names);
          return "ok " + String.join(" ", sorted);
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
