package zerohop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.ipc.CallerContext;
import org.apache.hadoop.security.UserGroupInformation;

/** What one user asks of a file system: a command a case, its results in the order src/driver/mod.rs says. */
final class Commands {
  final UserGroupInformation ugi;
  private final DistributedFileSystem fs;
  private final Map<String, FSDataOutputStream> writers = new HashMap<>();
  private final Map<String, FSDataInputStream> readers = new HashMap<>();
  private final Map<String, RemoteIterator<FileStatus>> iterators = new HashMap<>();
  private String[] a;

  Commands(DistributedFileSystem fs, UserGroupInformation ugi) {
    this.fs = fs;
    this.ugi = ugi;
  }

  Object[] run(String command, String[] args) throws Exception {
    a = args;
    switch (command) {
      case "ping": return ok();
      case "mkdir": return ok(fs.mkdirs(path(0), perm(1, "755")));
      case "create": writers.put(a[0], create(1)); return ok();
      case "append": writers.put(a[0], fs.append(path(1))); return ok();
      case "put": return put();
      case "write": return write();
      case "hflush": writer().hflush(); return ok();
      case "hsync": writer().hsync(); return ok();
      case "close": writers.remove(a[0]).close(); return ok();
      case "read": return read();
      case "open": readers.put(a[0], fs.open(path(1))); return ok();
      case "next": return Content.hash(readers.get(a[0]), num(1));
      case "pread": return pread();
      case "rclose": readers.remove(a[0]).close(); return ok();
      case "stat": return status(fs.getFileStatus(path(0)));
      case "list": return list();
      case "exists": return ok(fs.exists(path(0)));
      case "access": fs.access(path(0), FsAction.getFsAction(a[1])); return ok();
      case "rename": return ok(fs.rename(path(0), path(1)));
      case "rename2": return rename2();
      case "delete": return ok(fs.delete(path(0), flag(1)));
      case "truncate": return ok(fs.truncate(path(0), num(1)));
      case "concat": return concat();
      case "setrep": return ok(fs.setReplication(path(0), (short) num(1)));
      case "chmod": fs.setPermission(path(0), perm(1, null)); return ok();
      case "chown": fs.setOwner(path(0), orNull(1), orNull(2)); return ok();
      case "settimes": fs.setTimes(path(0), num(1), num(2)); return ok();
      case "times": return times(fs.getFileStatus(path(0)));
      case "checksum": return checksum();
      case "locations": return locations();
      case "recoverlease": return ok(fs.recoverLease(path(0)));
      case "isclosed": return ok(fs.isFileClosed(path(0)));
      default: return more(command);
    }
  }

  private Object[] more(String command) throws Exception {
    switch (command) {
      case "setxattr": fs.setXAttr(path(0), a[1], HexFormat.of().parseHex(a[2])); return ok();
      case "getxattr": return ok(HexFormat.of().formatHex(fs.getXAttr(path(0), a[1])));
      case "listxattr": return fs.listXAttrs(path(0)).stream().sorted().toArray();
      case "removexattr": fs.removeXAttr(path(0), a[1]); return ok();
      case "setacl": fs.setAcl(path(0), AclEntry.parseAclSpec(a[1], true)); return ok();
      case "modifyacl": fs.modifyAclEntries(path(0), AclEntry.parseAclSpec(a[1], true)); return ok();
      case "removeacl": fs.removeAcl(path(0)); return ok();
      case "getacl": return ok(fs.getAclStatus(path(0)).getEntries().stream().map(AclEntry::toString)
          .collect(Collectors.joining(",")));
      case "summary": return summary();
      case "setquota": fs.setQuota(path(0), num(1), num(2)); return ok();
      case "quota": return quota();
      case "setpolicy": fs.setStoragePolicy(path(0), a[1]); return ok();
      case "getpolicy": return ok(fs.getStoragePolicy(path(0)).getName());
      case "live": return ok(fs.getDataNodeStats(DatanodeReportType.LIVE).length);
      case "dead": return ok(fs.getDataNodeStats(DatanodeReportType.DEAD).length);
      case "contacts": return contacts();
      case "safemode": return ok(fs.setSafeMode(SafeModeAction.valueOf("SAFEMODE_" + a[0].toUpperCase())));
      case "savenamespace": fs.saveNamespace(); return ok();
      case "iterate": iterators.put(a[0], fs.listStatusIterator(path(1))); return ok();
      case "entries": return ok(entries(iterators.get(a[0]), num(1)));
      case "statistics": return LocalReads.statistics(readers.get(a[0]));
      case "zerocopy": return LocalReads.zeroCopy(readers.get(a[0]), (int) num(1), flag(2));
      case "zerocopykept": return ok(LocalReads.keepZeroCopy(readers.get(a[0]), (int) num(1)));
      case "giveback": LocalReads.giveBack(readers.remove(a[0])); return ok();
      case "cache": return ok(LocalReads.cache(fs, path(0)));
      case "cacheadmin": return LocalReads.cacheAdmin(fs, a);
      case "uncache": fs.removeCacheDirective(num(0)); return ok();
      case "cached": return ok(LocalReads.cached(fs, path(0)));
      case "callercontext": return callerContext();
      case "checkpath": return LocalReads.checkPath(a[0]);
      case "home": return ok(fs.getHomeDirectory().toUri().getPath());
      default: throw new UnsupportedOperationException(command);
    }
  }

  /** How many entries came, up to a number. */
  private static long entries(RemoteIterator<FileStatus> entries, long most) throws IOException {
    long count = 0;
    while (count < most && entries.hasNext()) {
      entries.next();
      count++;
    }
    return count;
  }

  /** Of all later calls of this thread. */
  private Object[] callerContext() {
    byte[] signature = a[1].getBytes(java.nio.charset.StandardCharsets.UTF_8);
    CallerContext.setCurrent(
        a[0].isEmpty() ? null : new CallerContext.Builder(a[0]).setSignature(signature).build());
    return ok();
  }

  private static Object[] ok(Object... fields) {
    return fields;
  }

  private Path path(int i) {
    return new Path(a[i]);
  }

  private long num(int i) {
    return Long.parseLong(a[i]);
  }

  private boolean flag(int i) {
    return Boolean.parseBoolean(a[i]);
  }

  private String orNull(int i) {
    return a[i].isEmpty() ? null : a[i];
  }

  private FsPermission perm(int i, String otherwise) {
    String octal = i < a.length ? a[i] : otherwise;
    return new FsPermission((short) Integer.parseInt(octal, 8));
  }

  private FSDataOutputStream writer() throws IOException {
    FSDataOutputStream out = writers.get(a[0]);
    if (out == null) {
      throw new IOException("no such writer: " + a[0]);
    }
    return out;
  }

  /** From field {@code at}: path, replication, block size, overwrite. */
  private FSDataOutputStream create(int at) throws IOException {
    EnumSet<CreateFlag> flags = EnumSet.of(CreateFlag.CREATE);
    if (flag(at + 3)) {
      flags.add(CreateFlag.OVERWRITE);
    }
    return fs.create(path(at), FsPermission.getFileDefault(), flags, 4096, (short) num(at + 1), num(at + 2), null);
  }

  private Object[] put() throws IOException {
    FSDataOutputStream out = fs.create(path(0), true, 4096, (short) num(3), num(4));
    Content.write(out, num(2), 0, num(1));
    out.close();
    return ok();
  }

  private Object[] write() throws IOException {
    FSDataOutputStream out = writer();
    Content.write(out, num(2), out.getPos(), num(1));
    return ok(out.getPos());
  }

  private Object[] read() throws IOException {
    try (FSDataInputStream in = fs.open(path(0))) {
      in.seek(num(1));
      return Content.hash(in, num(2));
    }
  }

  private Object[] pread() throws IOException {
    byte[] bytes = new byte[(int) num(2)];
    int got = 0;
    while (got < bytes.length) {
      int n = readers.get(a[0]).read(num(1) + got, bytes, got, bytes.length - got);
      if (n < 0) {
        break;
      }
      got += n;
    }
    return Content.hash(bytes, got);
  }

  private static String octal(FsPermission p) {
    return String.format("%o", p.toShort());
  }

  private static Object[] status(FileStatus s) {
    return ok(s.isDirectory() ? "dir" : "file", s.getLen(), s.getReplication(), s.getBlockSize(),
        octal(s.getPermission()), s.getOwner(), s.getGroup());
  }

  private static Object[] times(FileStatus s) {
    return ok(s.getModificationTime(), s.getAccessTime());
  }

  private Object[] list() throws IOException {
    return Arrays.stream(fs.listStatus(path(0))).sorted(Comparator.comparing(s -> s.getPath().getName()))
        .map(s -> s.getPath().getName() + " " + Arrays.stream(status(s)).map(String::valueOf)
            .collect(Collectors.joining(" "))).toArray();
  }

  @SuppressWarnings("deprecation")
  private Object[] rename2() throws IOException {
    fs.rename(path(0), path(1), flag(2) ? Options.Rename.OVERWRITE : Options.Rename.NONE);
    return ok();
  }

  private Object[] concat() throws IOException {
    Path[] sources = Arrays.stream(a).skip(1).map(Path::new).toArray(Path[]::new);
    fs.concat(path(0), sources);
    return ok();
  }

  private Object[] checksum() throws IOException {
    FileChecksum sum = fs.getFileChecksum(path(0));
    // getBytes gives the whole of a buffer that is larger than the checksum.
    return sum == null ? ok("NONE", "")
        : ok(sum.getAlgorithmName(), HexFormat.of().formatHex(sum.getBytes(), 0, sum.getLength()));
  }

  /** A field a block: offset, length, then the DataNodes' transfer addresses. */
  private Object[] locations() throws IOException {
    List<String> blocks = new ArrayList<>();
    for (BlockLocation b : fs.getFileBlockLocations(path(0), num(1), num(2))) {
      blocks.add(b.getOffset() + " " + b.getLength() + " "
          + Arrays.stream(b.getNames()).sorted().collect(Collectors.joining(" ")));
    }
    return blocks.toArray();
  }

  private Object[] contacts() throws IOException {
    // One that registered has no storages, and takes no block, before its first heartbeat.
    return Arrays.stream(fs.getDataNodeStats(DatanodeReportType.LIVE)).filter(d -> d.getCapacity() > 0)
        .map(d -> d.getXferAddr() + " " + d.getLastUpdate()).sorted().toArray();
  }

  private Object[] summary() throws IOException {
    ContentSummary s = fs.getContentSummary(path(0));
    return ok(s.getLength(), s.getFileCount(), s.getDirectoryCount(), s.getQuota(), s.getSpaceConsumed(),
        s.getSpaceQuota());
  }

  private Object[] quota() throws IOException {
    QuotaUsage q = fs.getQuotaUsage(path(0));
    return ok(q.getFileAndDirectoryCount(), q.getQuota(), q.getSpaceConsumed(), q.getSpaceQuota());
  }
}
