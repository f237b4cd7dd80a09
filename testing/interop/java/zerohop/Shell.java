package zerohop;

import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.util.ToolRunner;

/**
 * Runs Apache's file system shell many times in one JVM: {@code Shell CONF_DIR FILE}. A line of the
 * file is a command: a file for standard input or nothing, then the arguments, with tabs between.
 * Each answer is the output of both streams, then a line with the exit code.
 */
public final class Shell {
  private Shell() {}

  public static void main(String[] args) throws Exception {
    PrintStream real = System.out;
    for (String line : Files.readAllLines(Paths.get(args[1]))) {
      String[] fields = line.split("\t", -1);
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      PrintStream both = new PrintStream(bytes, true, StandardCharsets.UTF_8);
      System.setOut(both);
      System.setErr(both);
      int code;
      try (InputStream in = fields[0].isEmpty() ? InputStream.nullInputStream() : new FileInputStream(fields[0])) {
        System.setIn(in);
        Configuration conf = Daemon.conf(args[0]);
        code = ToolRunner.run(conf, new FsShell(), Arrays.copyOfRange(fields, 1, fields.length));
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
