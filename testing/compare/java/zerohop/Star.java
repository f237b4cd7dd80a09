package zerohop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * The star schema in Apache Spark: {@code Star KEY=VALUE...}. Tables and statements are those that
 * {@code zerohop-star --generate} wrote to the directory {@code tables}; {@code base} is the URI of the
 * directory from which the tables are read. Before each run it prints {@code drop} and waits for a line,
 * for the caller to drop files from the page cache. Each run that counts prints the query, the seconds of
 * its first and its second time, the CPU seconds of this process for both, and a digest of the answer.
 * Values that begin with {@code dfs.} are settings of Apache's client.
 */
public final class Star {
  private static final String SHORT_CIRCUIT = "dfs.client.read.shortcircuit";

  private final Map<String, String> options = new HashMap<>();
  private final List<String> tables = new ArrayList<>();
  private final Map<String, String> queries = new TreeMap<>();
  private final SparkSession spark;
  private final BufferedReader answers =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

  private Star(String[] args) throws IOException {
    for (String arg : args) {
      int at = arg.indexOf('=');
      options.put(arg.substring(0, at), arg.substring(at + 1));
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(Paths.get(options.get("tables")))) {
      for (Path entry : entries) {
        String name = entry.getFileName().toString();
        if (Files.isDirectory(entry)) {
          tables.add(name);
        } else if (name.endsWith(".sql")) {
          queries.put(name.substring(0, name.length() - 4), Files.readString(entry));
        }
      }
    }
    SparkSession.Builder builder =
        SparkSession.builder()
            .appName("star")
            .master("local[" + options.get("threads") + "]")
            .config("spark.sql.shuffle.partitions", options.get("threads"))
            .config("spark.local.dir", options.get("scratch"))
            .config("spark.sql.warehouse.dir", options.get("scratch"))
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false");
    for (Map.Entry<String, String> option : options.entrySet()) {
      if (option.getKey().startsWith("dfs.")) {
        builder = builder.config("spark.hadoop." + option.getKey(), option.getValue());
      }
    }
    spark = builder.getOrCreate();
    spark.sparkContext().setLogLevel("WARN");
  }

  private String place(String table) {
    return options.get("base") + "/" + table;
  }

  /** Whether bytes come by short circuit as they should; Apache's client falls back in silence. */
  private void checkReadPath() throws IOException {
    String wanted = options.get(SHORT_CIRCUIT);
    if (wanted == null) {
      return;
    }
    Configuration conf = spark.sparkContext().hadoopConfiguration();
    org.apache.hadoop.fs.Path facts = new org.apache.hadoop.fs.Path(place("facts"));
    FileSystem fs = facts.getFileSystem(conf);
    FileStatus file = fs.listStatus(facts)[0];
    try (FSDataInputStream in = fs.open(file.getPath())) {
      in.readFully(0, new byte[(int) Math.min(file.getLen(), 1 << 16)]);
      long bytes = ((HdfsDataInputStream) in).getReadStatistics().getTotalShortCircuitBytesRead();
      if (bytes > 0 != Boolean.parseBoolean(wanted)) {
        throw new IOException(SHORT_CIRCUIT + " is " + wanted + ", and " + bytes + " bytes came so");
      }
    }
  }

  private static double cpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime()
        / 1e9;
  }

  /** A session that knows the tables, and nothing of another one. */
  private SparkSession open() {
    SparkSession session = spark.newSession();
    for (String table : tables) {
      session.read().parquet(place(table)).createOrReplaceTempView(table);
    }
    return session;
  }

  private void run(String query, boolean counts) throws IOException {
    System.out.println("drop");
    if (answers.readLine() == null) {
      throw new IOException("the caller has ended");
    }
    SparkSession session = open();
    double[] seconds = new double[2];
    double[] cpu = new double[2];
    List<Row> answer = null;
    for (int time = 0; time < 2; time++) {
      double cpuBefore = cpu();
      long start = System.nanoTime();
      List<Row> found = session.sql(queries.get(query)).collectAsList();
      seconds[time] = (System.nanoTime() - start) / 1e9;
      cpu[time] = cpu() - cpuBefore;
      if (answer != null && !answer.toString().equals(found.toString())) {
        throw new IOException(query + " has two answers: " + answer + " and " + found);
      }
      answer = found;
    }
    if (counts) {
      String digest = Integer.toHexString(answer.toString().hashCode());
      System.out.printf(
          "%s %f %f %f %f %s%n", query, seconds[0], seconds[1], cpu[0], cpu[1], digest);
    }
  }

  private void run() throws IOException {
    checkReadPath();
    int runs = Integer.parseInt(options.get("runs"));
    for (String query : queries.keySet()) {
      // The first one compiles.
      for (int run = 0; run <= runs; run++) {
        run(query, run > 0);
      }
    }
    spark.stop();
  }

  public static void main(String[] args) {
    try {
      new Star(args).run();
    } catch (Exception | Error failure) {
      failure.printStackTrace();
      // Threads of Spark would keep the process.
      System.exit(1);
    }
  }
}
