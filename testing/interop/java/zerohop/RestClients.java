package zerohop;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.http.client.HttpFSFileSystem;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.ipc.RemoteException;

/**
 * Does the same with several of Apache's file systems and prints what each answers: {@code RestClients
 * CONF_DIR KIND=URI...}; KIND is {@code httpfs} for HttpFS's client, anything else for the one that the
 * URI's scheme names. A line an answer: the URI, what was done, what came of it; tab-separated.
 */
public final class RestClients {
  private static final FsPermission OPEN = new FsPermission((short) 0755);
  private final String name;
  private final FileSystem fs;
  private final Path root;

  private RestClients(String name, FileSystem fs, Path root) {
    this.name = name;
    this.fs = fs;
    this.root = root;
  }

  /** One thing to do. */
  private interface Step {
    Object run() throws Exception;
  }

  public static void main(String[] args) throws Exception {
    for (String arg : Arrays.copyOfRange(args, 1, args.length)) {
      Configuration conf = Daemon.conf(args[0]);
      String kind = arg.substring(0, arg.indexOf('='));
      URI uri = URI.create(arg.substring(kind.length() + 1));
      FileSystem fs;
      if (kind.equals("httpfs")) {
        fs = new HttpFSFileSystem();
        fs.setConf(conf);
        fs.initialize(uri, conf);
      } else {
        fs = FileSystem.newInstance(uri, conf);
      }
      Path root = new Path("/" + kind);
      fs.mkdirs(root, OPEN);
      new RestClients(kind, fs, root).run();
      fs.close();
    }
    System.exit(0);
  }

  private void say(String what, Step step) {
    String said;
    try {
      said = String.valueOf(step.run());
    } catch (Throwable failure) {
      // A remote one that a client wraps is the same failure.
      String type = failure instanceof RemoteException
          ? ((RemoteException) failure).getClassName() : failure.getClass().getName();
      said = type.substring(type.lastIndexOf('.') + 1);
      System.err.print(name + ": " + what + ": ");
      failure.printStackTrace();
    }
    // What names the file system or its own directory is the same for all.
    said = said.replaceAll("(hdfs|webhdfs)://[^/\\s,;]*", "").replace("/" + name, "/ROOT");
    System.out.println(name + "\t" + what + "\t" + Text.escape(said));
    System.out.flush();
  }

  private Path at(String path) {
    return new Path(root, path);
  }

  private static byte[] bytes(int len) {
    byte[] bytes = new byte[len];
    for (int i = 0; i < len; i++) {
      bytes[i] = (byte) (i * 31 + (i >> 8) * 7);
    }
    return bytes;
  }

  private String create(String path, boolean overwrite, byte[] data) throws IOException {
    try (FSDataOutputStream out =
        fs.create(at(path), new FsPermission((short) 0640), overwrite, 4096, (short) 1, 1 << 20, null)) {
      out.write(data);
    }
    return status(fs.getFileStatus(at(path)));
  }

  private String append(String path, String text) throws IOException {
    try (FSDataOutputStream out = fs.append(at(path))) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return "" + fs.getFileStatus(at(path)).getLen();
  }

  private String read(String path) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    try (FSDataInputStream in = fs.open(at(path))) {
      IOUtils.copyBytes(in, all, 4096);
    }
    return all.size() + " " + Arrays.hashCode(all.toByteArray());
  }

  private String seek(String path, long... places) throws IOException {
    StringBuilder said = new StringBuilder();
    byte[] some = new byte[1000];
    try (FSDataInputStream in = fs.open(at(path))) {
      for (long place : places) {
        in.seek(place);
        int read = in.read();
        said.append(place).append(':').append(read).append('@').append(in.getPos()).append(' ');
      }
      in.readFully(70_000, some, 0, some.length);
      said.append(Arrays.hashCode(some)).append('@').append(in.getPos());
    }
    return said.toString();
  }

  private static String status(FileStatus s) {
    return s.getPath() + (s.isDirectory() ? " dir " : s.isSymlink() ? " link " : " file ") + s.getLen() + " "
        + s.getReplication() + " " + s.getBlockSize() + " " + s.getOwner() + ":" + s.getGroup() + " "
        + s.getPermission() + (s.hasAcl() ? "+" : "") + (s.isErasureCoded() ? " ec" : "")
        + (s.isEncrypted() ? " enc" : "");
  }

  private String list(String path) throws IOException {
    List<String> all = new ArrayList<>();
    for (FileStatus status : fs.listStatus(at(path))) {
      all.add(status(status));
    }
    return String.join("; ", all);
  }

  private static <T> String drain(RemoteIterator<? extends FileStatus> entries) throws IOException {
    List<String> all = new ArrayList<>();
    while (entries.hasNext()) {
      all.add(status(entries.next()));
    }
    return String.join("; ", all);
  }

  private static String summary(ContentSummary s) {
    return s.getDirectoryCount() + " " + s.getFileCount() + " " + s.getLength() + " " + s.getSpaceConsumed() + " "
        + s.getQuota() + " " + s.getSpaceQuota();
  }

  private static String usage(QuotaUsage s) {
    return s.getFileAndDirectoryCount() + " " + s.getSpaceConsumed() + " " + s.getQuota() + " " + s.getSpaceQuota();
  }

  private static String values(Map<String, byte[]> xattrs) {
    Map<String, String> all = new TreeMap<>();
    xattrs.forEach((key, value) -> all.put(key, Arrays.toString(value)));
    return all.toString();
  }

  private String roots(Collection<FileStatus> roots) {
    List<String> all = new ArrayList<>();
    roots.forEach(status -> all.add(status.getPath().toString()));
    return all.toString();
  }

  private static List<AclEntry> acl(String text) {
    return AclEntry.parseAclSpec(text, true);
  }

  private void run() {
    data();
    names();
    attributes();
    sums();
    refusals();
  }

  private void data() {
    say("create", () -> create("f", false, bytes(200_000)));
    say("create what is there", () -> create("f", false, bytes(1)));
    say("read", () -> read("f"));
    say("seek", () -> seek("f", 0, 199_999, 5, 131_072, 70_000));
    say("seek behind the end", () -> seek("f", 200_001));
    say("replace", () -> create("f", true, bytes(3_000_000)));
    say("read again", () -> read("f"));
    say("append", () -> append("f", "and more"));
    say("append again", () -> append("f", " é\n"));
    say("read appended", () -> read("f"));
    say("append to nothing", () -> append("none", "x"));
    say("an empty file", () -> create("empty", false, bytes(0)));
    say("read nothing", () -> read("empty"));
    say("create below nothing", () -> create("new/deep/f", false, bytes(5)));
    say("createNewFile", () -> fs.createNewFile(at("made")) + " " + fs.createNewFile(at("made")) + " " + fs.delete(at("made"), false));
    say("create without bytes", () -> create("touched", false, bytes(0)));
    say("checksum", () -> {
      FileChecksum sum = fs.getFileChecksum(at("f"));
      return sum.getAlgorithmName() + " " + Arrays.toString(Arrays.copyOf(sum.getBytes(), 28));
    });
    say("truncate", () -> fs.truncate(at("new/deep/f"), 0) + " " + read("new/deep/f"));
    say("concat", () -> {
      for (String part : new String[] {"c1", "c2", "c3"}) {
        create(part, false, bytes(1 << 20));
      }
      fs.concat(at("c1"), new Path[] {at("c2"), at("c3")});
      return read("c1") + " " + fs.exists(at("c2"));
    });
    say("locations", () -> {
      BlockLocation[] all = fs.getFileBlockLocations(fs.getFileStatus(at("f")), 0, Long.MAX_VALUE);
      return all.length + " " + Arrays.toString(all);
    });
  }

  private void names() {
    say("mkdirs", () -> fs.mkdirs(at("d/e"), OPEN) + " " + status(fs.getFileStatus(at("d/e"))));
    // HttpFS's client sends names as they are, for which there is no HTTP.
    String[] strangeNames = fs instanceof HttpFSFileSystem
        ? new String[] {"a+b", "semi;colon,x"}
        : new String[] {"a b", "a+b", "a%20b", "100%", "é ü 漢 😀", "a&b=c?d#e", "quote\"'", "semi;colon,x"};
    for (String strange : strangeNames) {
      say("the name " + strange, () -> {
        String made = create("d/" + strange, false, bytes(strange.length()));
        return made + " " + read("d/" + strange) + " " + append("d/" + strange, "x") + " "
            + fs.rename(at("d/" + strange), at("d/moved-" + strange)) + " " + fs.delete(at("d/moved-" + strange), false);
      });
    }
    say("list", () -> list(""));
    say("list a file", () -> list("f"));
    say("list nothing", () -> list("none"));
    say("listStatusIterator", () -> drain(fs.listStatusIterator(root)));
    say("listFiles", () -> drain(fs.listFiles(root, true)));
    say("listLocatedStatus", () -> drain(fs.listLocatedStatus(root)));
    say("glob", () -> Arrays.toString(Arrays.stream(fs.globStatus(at("{c*,f}"))).map(RestClients::status).toArray()));
    say("rename", () -> fs.rename(at("touched"), at("d/touched")) + " " + fs.exists(at("touched")));
    say("rename nothing", () -> fs.rename(at("none"), at("d/none")));
    say("rename over a file", () -> fs.rename(at("empty"), at("c1")));
    say("delete a full directory", () -> fs.delete(at("new"), false));
    say("delete a tree", () -> fs.delete(at("new"), true) + " " + fs.exists(at("new")));
    say("delete nothing", () -> fs.delete(at("none"), true));
    say("mkdirs below a file", () -> fs.mkdirs(at("f/x"), OPEN));
    say("home", () -> fs.getHomeDirectory());
    say("trash root", () -> fs.getTrashRoot(at("f")));
    say("trash roots", () -> {
      String none = roots(fs.getTrashRoots(false));
      fs.mkdirs(fs.getTrashRoot(root));
      String some = none + roots(fs.getTrashRoots(false)) + roots(fs.getTrashRoots(true));
      return some + fs.delete(fs.getTrashRoot(root), true);
    });
  }

  private void attributes() {
    say("setPermission", () -> {
      fs.setPermission(at("f"), new FsPermission((short) 0604));
      return status(fs.getFileStatus(at("f")));
    });
    say("setOwner", () -> {
      fs.setOwner(at("f"), "alice", "staff");
      return status(fs.getFileStatus(at("f")));
    });
    say("setTimes", () -> {
      fs.setTimes(at("f"), 1_000_000_000_000L, 1_100_000_000_000L);
      FileStatus status = fs.getFileStatus(at("f"));
      return status.getModificationTime() + " " + status.getAccessTime();
    });
    say("setReplication", () -> fs.setReplication(at("f"), (short) 2) + " " + fs.getFileStatus(at("f")).getReplication());
    say("setReplication of a directory", () -> fs.setReplication(at("d"), (short) 2));
    say("access", () -> {
      fs.access(at("f"), FsAction.READ_WRITE);
      return "granted";
    });
    say("access to nothing", () -> {
      fs.access(at("none"), FsAction.READ);
      return "granted";
    });
    say("acl", () -> {
      fs.modifyAclEntries(at("d"), acl("user:bob:rwx,group:staff:r-x,default:user:bob:r-x"));
      return fs.getAclStatus(at("d")) + " " + status(fs.getFileStatus(at("d")));
    });
    say("remove acl entries", () -> {
      fs.removeAclEntries(at("d"), AclEntry.parseAclSpec("user:bob", false));
      return fs.getAclStatus(at("d"));
    });
    say("remove default acl", () -> {
      fs.removeDefaultAcl(at("d"));
      return fs.getAclStatus(at("d"));
    });
    say("set acl", () -> {
      fs.setAcl(at("d"), acl("user::rwx,user:carol:r--,group::r-x,other::---"));
      return fs.getAclStatus(at("d"));
    });
    say("remove acl", () -> {
      fs.removeAcl(at("d"));
      return fs.getAclStatus(at("d"));
    });
    say("xattrs", () -> {
      fs.setXAttr(at("f"), "user.one", new byte[] {0, 1, -1});
      fs.setXAttr(at("f"), "user.two", "text é".getBytes(StandardCharsets.UTF_8), EnumSet.of(XAttrSetFlag.CREATE));
      fs.setXAttr(at("f"), "user.three", new byte[0]);
      return values(fs.getXAttrs(at("f"))) + values(fs.getXAttrs(at("f"), Arrays.asList("user.two", "user.one")))
          + fs.listXAttrs(at("f")) + Arrays.toString(fs.getXAttr(at("f"), "user.one"));
    });
    say("an xattr that is there", () -> {
      fs.setXAttr(at("f"), "user.one", new byte[1], EnumSet.of(XAttrSetFlag.CREATE));
      return "set";
    });
    say("an xattr that is not there", () -> Arrays.toString(fs.getXAttr(at("f"), "user.none")));
    say("remove an xattr", () -> {
      fs.removeXAttr(at("f"), "user.one");
      return fs.listXAttrs(at("f"));
    });
    say("storage policies", () -> fs.getAllStoragePolicies().size());
    say("storage policy", () -> {
      fs.setStoragePolicy(at("d"), "COLD");
      String cold = fs.getStoragePolicy(at("d")).getName();
      fs.unsetStoragePolicy(at("d"));
      return cold + " " + fs.getStoragePolicy(at("d")).getName();
    });
    say("an unknown storage policy", () -> {
      fs.setStoragePolicy(at("d"), "NONE");
      return "set";
    });
  }

  private void sums() {
    say("content summary", () -> summary(fs.getContentSummary(root)));
    say("content summary of nothing", () -> summary(fs.getContentSummary(at("none"))));
    say("quota usage", () -> usage(fs.getQuotaUsage(root)));
    say("server defaults", () -> fs.getServerDefaults(root).getBlockSize() + " " + fs.getServerDefaults(root).getReplication());
    say("status", () -> fs.getStatus(root).getCapacity());
    say("used", () -> fs.getStatus(root).getUsed() > 0);
  }

  private void refusals() {
    say("open nothing", () -> read("none"));
    say("open a directory", () -> read("d"));
    say("status of nothing", () -> status(fs.getFileStatus(at("none"))));
    say("create over a directory", () -> create("d", true, bytes(1)));
    say("create below a file", () -> create("f/x", true, bytes(1)));
    say("append to a directory", () -> append("d", "x"));
    say("createNonRecursive below nothing", () -> {
      fs.createNonRecursive(at("none/f"), OPEN, EnumSet.of(CreateFlag.CREATE), 4096, (short) 1, 1 << 20, null).close();
      return "made";
    });
    say("snapshots", () -> {
      Path made = fs.createSnapshot(at("d"), "s");
      return made;
    });
    say("acl of nothing", () -> fs.getAclStatus(at("none")));
    say("owner of nothing", () -> {
      fs.setOwner(at("none"), "alice", "staff");
      return "set";
    });
    say("checksum of nothing", () -> fs.getFileChecksum(at("none")));
  }
}
