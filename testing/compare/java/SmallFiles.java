import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Small files by Apache's own client: each thread creates a file, writes a few bytes, closes it, and
 * goes on. Prints one line a round.
 *
 * <pre>SmallFiles DIRECTORY THREADS FILES BYTES ROUNDS [KEY=VALUE...]</pre>
 *
 * FILES are those of one round, over all threads. The first round is mostly unwarmed code.
 */
public final class SmallFiles {
  public static void main(String[] args) throws Exception {
    Path directory = new Path(args[0]);
    int threads = Integer.parseInt(args[1]);
    int files = Integer.parseInt(args[2]);
    int length = Integer.parseInt(args[3]);
    int rounds = Integer.parseInt(args[4]);
    Configuration conf = new Configuration();
    for (String setting : Arrays.asList(args).subList(5, args.length)) {
      String[] parts = setting.split("=", 2);
      conf.set(parts[0], parts[1]);
    }
    FileSystem fs = directory.getFileSystem(conf);
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (int round = 0; round < rounds; round++) {
        round(fs, new Path(directory, "round-" + round), pool, threads, files, length);
      }
    } finally {
      pool.shutdown();
    }
    fs.delete(directory, true);
    fs.close();
  }

  private static void round(
      FileSystem fs, Path directory, ExecutorService pool, int threads, int files, int length)
      throws Exception {
    for (int thread = 0; thread < threads; thread++) {
      fs.mkdirs(new Path(directory, "t" + thread));
    }
    long cpu = ProcessHandle.current().info().totalCpuDuration().get().toMillis();
    long start = System.nanoTime();
    List<Future<long[]>> writers = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      Path own = new Path(directory, "t" + thread);
      writers.add(pool.submit(() -> write(fs, own, files / threads, length)));
    }
    long[] times = new long[0];
    for (Future<long[]> writer : writers) {
      long[] some = writer.get();
      int before = times.length;
      times = Arrays.copyOf(times, before + some.length);
      System.arraycopy(some, 0, times, before, some.length);
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    long spent = ProcessHandle.current().info().totalCpuDuration().get().toMillis() - cpu;
    Arrays.sort(times);
    System.out.printf(
        "%d threads, %d files of %d B: %.0f files/s, p50 %d us, p99 %d us, client CPU %.0f us a file%n",
        threads, times.length, length, times.length / seconds,
        times[times.length / 2] / 1000, times[times.length * 99 / 100] / 1000,
        spent * 1000.0 / times.length);
  }

  /** Nanoseconds of each file, from create to closed. */
  private static long[] write(FileSystem fs, Path directory, int files, int length) throws Exception {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) 'z');
    long[] times = new long[files];
    for (int i = 0; i < files; i++) {
      long start = System.nanoTime();
      try (FSDataOutputStream out = fs.create(new Path(directory, "f" + i), true)) {
        out.write(bytes);
      }
      times[i] = System.nanoTime() - start;
    }
    return times;
  }
}
