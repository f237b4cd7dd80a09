package zerohop;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.zip.CRC32;

/**
 * File content as a function of a seed and an offset, the same in both drivers: the byte at offset
 * {@code o} is byte {@code o % 8} (little end first) of a mix of {@code seed} and {@code o / 8}.
 * Any part of a file can so be checked without keeping what was written.
 */
final class Content {
  private static final int BUFFER = 1 << 16;

  private Content() {}

  static long word(long seed, long index) {
    long z = seed * 0x9E3779B97F4A7C15L + index + 1;
    z *= 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  static void fill(long seed, long offset, byte[] out, int len) {
    for (int i = 0; i < len; i++) {
      long at = offset + i;
      out[i] = (byte) (word(seed, at >>> 3) >>> (8 * (at & 7)));
    }
  }

  static void write(OutputStream out, long seed, long offset, long len) throws IOException {
    byte[] buffer = new byte[BUFFER];
    for (long done = 0; done < len; ) {
      int n = (int) Math.min(buffer.length, len - done);
      fill(seed, offset + done, buffer, n);
      out.write(buffer, 0, n);
      done += n;
    }
  }

  /** Reads up to {@code len} bytes ({@code -1}: to the end): their count and CRC-32. */
  static Object[] hash(InputStream in, long len) throws IOException {
    CRC32 crc = new CRC32();
    byte[] buffer = new byte[BUFFER];
    long done = 0;
    while (len < 0 || done < len) {
      int want = len < 0 ? buffer.length : (int) Math.min(buffer.length, len - done);
      int n = in.read(buffer, 0, want);
      if (n < 0) {
        break;
      }
      crc.update(buffer, 0, n);
      done += n;
    }
    return new Object[] {done, String.format("%08x", crc.getValue())};
  }

  static Object[] hash(byte[] bytes, int len) {
    CRC32 crc = new CRC32();
    crc.update(bytes, 0, len);
    return new Object[] {len, String.format("%08x", crc.getValue())};
  }
}
