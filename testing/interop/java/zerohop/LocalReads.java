package zerohop;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.zip.CRC32;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.ReadOption;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.ReadStatistics;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.hdfs.tools.CacheAdmin;
import org.apache.hadoop.hdfs.protocol.CacheDirectiveInfo;
import org.apache.hadoop.hdfs.protocol.CachePoolInfo;
import org.apache.hadoop.io.ElasticByteBufferPool;
import org.apache.hadoop.net.unix.DomainSocket;

/** What Apache's client knows of its short-circuit reads. */
final class LocalReads {
  private LocalReads() {}

  /** Bytes read: all, from this machine, by short circuit, without a copy. */
  static Object[] statistics(FSDataInputStream in) {
    ReadStatistics stats = ((HdfsDataInputStream) in).getReadStatistics();
    return new Object[] {
      stats.getTotalBytesRead(), stats.getTotalLocalBytesRead(),
      stats.getTotalShortCircuitBytesRead(), stats.getTotalZeroCopyBytesRead(),
    };
  }

  /** Reads to the end by the zero-copy call: count and CRC-32. */
  static Object[] zeroCopy(FSDataInputStream in, int most, boolean verified) throws Exception {
    EnumSet<ReadOption> options =
        verified ? EnumSet.noneOf(ReadOption.class) : EnumSet.of(ReadOption.SKIP_CHECKSUMS);
    ElasticByteBufferPool pool = new ElasticByteBufferPool();
    CRC32 crc = new CRC32();
    long done = 0;
    ByteBuffer mapped;
    while ((mapped = in.read(pool, most, options)) != null) {
      done += mapped.remaining();
      crc.update(mapped);
      in.releaseBuffer(mapped);
    }
    return new Object[] {done, String.format("%08x", crc.getValue())};
  }

  private static ByteBuffer mapped;

  /** Takes memory by the zero-copy call and keeps it: how many bytes. */
  static int keepZeroCopy(FSDataInputStream in, int most) throws Exception {
    mapped = in.read(new ElasticByteBufferPool(), most, EnumSet.noneOf(ReadOption.class));
    return mapped.remaining();
  }

  /** Gives it back. */
  static void giveBack(FSDataInputStream in) throws Exception {
    in.releaseBuffer(mapped);
    in.close();
  }

  /** Has a file cached: the directive's id. */
  static long cache(DistributedFileSystem fs, Path path) throws Exception {
    fs.addCachePool(new CachePoolInfo("pool"));
    return fs.addCacheDirective(
        new CacheDirectiveInfo.Builder().setPath(path).setPool("pool").build());
  }

  /** How many blocks of a file the NameNode knows as cached. */
  static long cached(DistributedFileSystem fs, Path path) throws Exception {
    return Arrays.stream(fs.getFileBlockLocations(path, 0, Long.MAX_VALUE))
        .mapToLong(block -> block.getCachedHosts().length)
        .sum();
  }

  /** {@code hdfs cacheadmin} in this process: exit code, and what it printed. */
  static Object[] cacheAdmin(DistributedFileSystem fs, String[] args) throws Exception {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    PrintStream both = new PrintStream(text, true, StandardCharsets.UTF_8);
    System.setOut(both);
    System.setErr(both);
    try {
      int code = new CacheAdmin(fs.getConf()).run(args);
      return new Object[] {code, text.toString(StandardCharsets.UTF_8)};
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  /** Apache's own verdict on a socket path: empty, or what is wrong. */
  static Object[] checkPath(String path) throws Exception {
    Method check = DomainSocket.class.getDeclaredMethod(
        "validateSocketPathSecurity0", String.class, int.class);
    check.setAccessible(true);
    try {
      check.invoke(null, path, 0);
      return new Object[] {""};
    } catch (InvocationTargetException wrapped) {
      return new Object[] {wrapped.getCause().getMessage()};
    }
  }
}
