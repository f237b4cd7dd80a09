package zerohop;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.ReadStatistics;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;

/**
 * Workloads through Apache's own client: {@code Load STEP KEY=VALUE...}, the configuration directory
 * on the class path. Each run that counts prints a line: its figure, the CPU seconds of this
 * process, those of the processes in {@code watch}, each for one unit of work. Before each run that
 * writes, the command in {@code ready} makes the machine ready for its bytes.
 */
public final class Load {
  private static final int WARM_UP_RUNS = 2;

  /** What a small file takes of the memory: pages of data and checksums, inodes, entries of directories. */
  private static final long FOOTPRINT = 16 << 10;

  private static final Path DIRECTORY = new Path("/load");
  private final Map<String, String> options = new HashMap<>();
  private final FileSystem fs;

  /** A run: its figure and its units of work. */
  private interface Run {
    double[] once(int run) throws Exception;
  }

  private Load(String[] args) throws IOException {
    Configuration conf = new HdfsConfiguration();
    for (String arg : Arrays.asList(args).subList(1, args.length)) {
      int at = arg.indexOf('=');
      String key = arg.substring(0, at);
      String value = arg.substring(at + 1);
      options.put(key, value);
      if (key.startsWith("dfs.")) {
        conf.set(key, value);
      }
    }
    fs = FileSystem.newInstance(conf);
  }

  private int option(String key, int otherwise) {
    return Integer.parseInt(options.getOrDefault(key, "" + otherwise));
  }

  private long size() {
    return Long.parseLong(options.getOrDefault("size", "" + (1L << 30)));
  }

  private static double ownCpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime()
        / 1e9;
  }

  /** User and system time of the watched processes; the kernel counts in hundredths of a second. */
  private double watchedCpu() throws IOException {
    double sum = 0;
    for (String pid : options.getOrDefault("watch", "").split(",")) {
      if (!pid.isEmpty()) {
        String stat = Files.readString(Paths.get("/proc", pid, "stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        sum += (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
      }
    }
    return sum;
  }

  private void makeReady(long bytes) throws Exception {
    if (bytes == 0) {
      return;
    }
    String replicas = options.getOrDefault("dfs.replication", "1");
    ProcessBuilder command =
        new ProcessBuilder(options.get("ready"), "--ready", "" + bytes, replicas).inheritIO();
    if (command.start().waitFor() != 0) {
      throw new IOException(command.command() + " failed");
    }
  }

  /** Runs it again and again; {@code written} are the bytes that a run writes. */
  private void repeat(int warmUp, long written, Run run) throws Exception {
    int runs = option("runs", 3);
    for (int i = 0; i < warmUp + runs; i++) {
      makeReady(written);
      double own = ownCpu();
      double watched = watchedCpu();
      double[] done = run.once(i);
      own = ownCpu() - own;
      watched = watchedCpu() - watched;
      if (i >= warmUp) {
        System.out.printf("%f %f %f%n", done[0], own / done[1], watched / done[1]);
      }
    }
  }

  /** Runs the same work in several threads; its bytes or operations. */
  private static double inThreads(int threads, java.util.function.IntFunction<Callable<Long>> work)
      throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Future<Long>> running = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      running.add(pool.submit(work.apply(i)));
    }
    double sum = 0;
    for (Future<Long> one : running) {
      sum += one.get();
    }
    pool.shutdown();
    return sum;
  }

  private static byte[] noise(int length) {
    byte[] bytes = new byte[length];
    new Random(7).nextBytes(bytes);
    return bytes;
  }

  private static Path file(int number) {
    return new Path(DIRECTORY, "file-" + number);
  }

  private long writeOne(Path path, long length) throws IOException {
    byte[] buffer = noise(1 << 20);
    try (FSDataOutputStream out = fs.create(path, true)) {
      for (long left = length; left > 0; left -= buffer.length) {
        out.write(buffer, 0, (int) Math.min(left, buffer.length));
      }
    }
    return length;
  }

  private long readOne(Path path) throws IOException {
    byte[] buffer = new byte[1 << 20];
    long total = 0;
    try (InputStream in = fs.open(path)) {
      for (int got = in.read(buffer); got >= 0; got = in.read(buffer)) {
        total += got;
      }
    }
    return total;
  }

  private static double[] rate(double bytes, long startNs) {
    return new double[] {bytes / 1e6 / ((System.nanoTime() - startNs) / 1e9), bytes / 1e9};
  }

  private void write() throws Exception {
    repeat(
        1,
        size(),
        run -> {
          long start = System.nanoTime();
          return rate(writeOne(file(0), size()), start);
        });
  }

  private void read() throws Exception {
    int readers = option("readers", 1);
    for (int i = 0; i < readers; i++) {
      writeOne(file(i), size());
    }
    repeat(
        WARM_UP_RUNS,
        0,
        run -> {
          long start = System.nanoTime();
          return rate(inThreads(readers, i -> () -> readOne(file(i))), start);
        });
  }

  /** Every byte must have come by short circuit. */
  private static void checkLocal(FSDataInputStream in) throws IOException {
    ReadStatistics read = ((HdfsDataInputStream) in).getReadStatistics();
    if (read.getTotalShortCircuitBytesRead() != read.getTotalBytesRead()) {
      throw new IOException(
          read.getTotalShortCircuitBytesRead() + " of " + read.getTotalBytesRead() + " bytes were local");
    }
  }

  private long readLocal(Path path, boolean isDirect) throws IOException {
    ByteBuffer buffer = isDirect ? ByteBuffer.allocateDirect(1 << 20) : ByteBuffer.allocate(1 << 20);
    long total = 0;
    try (FSDataInputStream in = fs.open(path)) {
      for (int got = 0; got >= 0; total += Math.max(got, 0)) {
        buffer.clear();
        got = isDirect ? in.read(buffer) : in.read(buffer.array());
      }
      checkLocal(in);
    }
    return total;
  }

  private void local() throws Exception {
    boolean isDirect = option("direct", 0) > 0;
    writeOne(file(0), size());
    repeat(
        WARM_UP_RUNS,
        0,
        run -> {
          long start = System.nanoTime();
          return rate(readLocal(file(0), isDirect), start);
        });
  }

  /** Reads at random places a second, each of {@code length} bytes and whole. */
  private void random() throws Exception {
    int length = option("length", 4096);
    long timeNs = option("time", 1000) * 1_000_000L;
    writeOne(file(0), size());
    Random random = new Random(1);
    byte[] buffer = new byte[length];
    try (FSDataInputStream in = fs.open(file(0))) {
      int places = (int) (size() / length);
      repeat(
          WARM_UP_RUNS,
          0,
          run -> {
            long start = System.nanoTime();
            long calls = 0;
            while (System.nanoTime() - start < timeNs) {
              for (int i = 0; i < 16; i++) {
                in.readFully((long) random.nextInt(places) * length, buffer);
              }
              calls += 16;
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            return new double[] {calls / seconds, calls * (double) length / 1e9};
          });
      checkLocal(in);
    }
  }

  /** The median wait of a run, in microseconds. */
  private void flush(boolean sync) throws Exception {
    byte[] bytes = noise(4096);
    int count = sync ? 500 : 3000;
    repeat(
        WARM_UP_RUNS,
        (long) count * bytes.length,
        run -> {
          double[] took = new double[count];
          try (FSDataOutputStream out = fs.create(file(0), true)) {
            for (int i = 0; i < count; i++) {
              long start = System.nanoTime();
              out.write(bytes);
              if (sync) {
                out.hsync();
              } else {
                out.hflush();
              }
              took[i] = (System.nanoTime() - start) / 1e3;
            }
          }
          Arrays.sort(took);
          return new double[] {took[count / 2], count / 1e6};
        });
  }

  /** Files made a second: create, write, close. */
  private void small() throws Exception {
    int threads = option("threads", 8);
    int files = option("files", 400);
    byte[] bytes = noise(1024);
    repeat(
        1,
        (long) files * FOOTPRINT,
        run -> {
          long start = System.nanoTime();
          double made = inThreads(threads, t -> () -> smallFiles(run, t, files / threads, bytes));
          return new double[] {made / ((System.nanoTime() - start) / 1e9), made / 1e6};
        });
  }

  private long smallFiles(int run, int thread, int count, byte[] bytes) throws IOException {
    for (int i = 0; i < count; i++) {
      Path path = new Path(DIRECTORY, "small/" + run + "/" + thread + "/" + i);
      try (FSDataOutputStream out = fs.create(path, true)) {
        out.write(bytes);
      }
    }
    return count;
  }

  private void step(String name) throws Exception {
    switch (name) {
      case "write":
        write();
        break;
      case "read":
        read();
        break;
      case "local":
        local();
        break;
      case "random":
        random();
        break;
      case "hflush":
        flush(false);
        break;
      case "hsync":
        flush(true);
        break;
      case "small":
        small();
        break;
      default:
        throw new IllegalArgumentException(name);
    }
  }

  public static void main(String[] args) throws Exception {
    Load load = new Load(args);
    try {
      load.step(args[0]);
    } finally {
      load.fs.delete(DIRECTORY, true);
      load.fs.close();
    }
  }
}
