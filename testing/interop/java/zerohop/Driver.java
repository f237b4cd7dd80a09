package zerohop;

import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.security.PrivilegedExceptionAction;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Apache's client behind the line protocol of the interop tests: one request a line on standard
 * input, one answer a line on standard output (the protocol is described in src/driver/mod.rs).
 * {@code Driver CONF_DIR [KEY=VALUE...]}
 */
public final class Driver {
  private final Configuration conf;
  private final Map<String, Commands> users = new HashMap<>();

  Driver(Configuration conf) {
    this.conf = conf;
    conf.setBoolean("fs.hdfs.impl.disable.cache", true);
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = Daemon.conf(args[0]);
    for (String setting : Arrays.copyOfRange(args, 1, args.length)) {
      int eq = setting.indexOf('=');
      conf.set(setting.substring(0, eq), setting.substring(eq + 1));
    }
    new Driver(conf).serve(
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)),
        new PrintWriter(System.out, false, StandardCharsets.UTF_8));
    System.exit(0);
  }

  void serve(BufferedReader in, PrintWriter out) throws IOException {
    String line;
    while ((line = in.readLine()) != null) {
      out.println(answer(line));
      out.flush();
    }
  }

  private String answer(String line) {
    String[] fields = line.split("\t", -1);
    for (int i = 0; i < fields.length; i++) {
      fields[i] = Text.unescape(fields[i]);
    }
    try {
      Object[] result = run(fields[0], fields[1], Arrays.copyOfRange(fields, 2, fields.length));
      StringBuilder sb = new StringBuilder("ok");
      for (Object r : result) {
        sb.append('\t').append(Text.escape(String.valueOf(r)));
      }
      return sb.toString();
    } catch (Throwable t) {
      return "err\t" + className(t) + "\t" + Text.escape(firstLine(t));
    }
  }

  private Object[] run(String user, String command, String[] args) throws Exception {
    Commands commands = users.get(user);
    if (commands == null) {
      UserGroupInformation ugi = user.isEmpty()
          ? UserGroupInformation.getLoginUser() : UserGroupInformation.createRemoteUser(user);
      FileSystem fs = ugi.doAs((PrivilegedExceptionAction<FileSystem>) () -> FileSystem.newInstance(conf));
      commands = new Commands((DistributedFileSystem) fs, ugi);
      users.put(user, commands);
    }
    Commands c = commands;
    return c.ugi.doAs((PrivilegedExceptionAction<Object[]>) () -> c.run(command, args));
  }

  /** The class that the server named where there was one, else the client's own. */
  private static String className(Throwable t) {
    if (t instanceof java.lang.reflect.UndeclaredThrowableException && t.getCause() != null) {
      return className(t.getCause());
    }
    String name = t instanceof RemoteException ? ((RemoteException) t).getClassName() : t.getClass().getName();
    int dot = Math.max(name.lastIndexOf('.'), name.lastIndexOf('$'));
    return t instanceof FileNotFoundException ? "FileNotFoundException" : name.substring(dot + 1);
  }

  private static String firstLine(Throwable t) {
    String message = String.valueOf(t.getMessage());
    int end = message.indexOf('\n');
    return end < 0 ? message : message.substring(0, end);
  }
}
