package zerohop;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.PrivilegedExceptionAction;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.tools.DistCp;

/**
 * Runs Apache's DistCp many times in one JVM, with the local job runner: {@code Copies CONF_DIR FILE}. A
 * line of the file is a run: the user, then the arguments, with tabs between. Each answer is the output of
 * both streams, then a line with the exit code.
 */
public final class Copies {
  private Copies() {}

  public static void main(String[] args) throws Exception {
    PrintStream real = System.out;
    for (String line : Files.readAllLines(Paths.get(args[1]))) {
      String[] fields = line.split("\t", -1);
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      PrintStream both = new PrintStream(bytes, true, StandardCharsets.UTF_8);
      System.setOut(both);
      System.setErr(both);
      int code;
      try {
        Configuration conf = Daemon.conf(args[0]);
        conf.set("mapreduce.framework.name", "local");
        conf.set("mapreduce.jobtracker.staging.root.dir", "/staging");
        String[] words = Arrays.copyOfRange(fields, 1, fields.length);
        UserGroupInformation user = UserGroupInformation.createRemoteUser(fields[0]);
        code = user.doAs((PrivilegedExceptionAction<Integer>) () -> new DistCp(conf, null).run(words));
      } catch (Throwable failure) {
        failure.printStackTrace(both);
        code = -1;
      }
      both.flush();
      real.write(bytes.toByteArray());
      real.println("\n=> " + (code & 255));
      real.flush();
    }
    System.exit(0);
  }
}
