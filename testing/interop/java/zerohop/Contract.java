package zerohop;

import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractBondedFSContract;

/**
 * The file system under test: whatever cluster the directory in the property {@code zerohop.conf} names. The
 * properties {@code zerohop.uri} and {@code zerohop.impl} name another address of it, and the class of its client.
 */
public final class Contract extends AbstractBondedFSContract {
  public Contract(Configuration conf) {
    super(conf);
    File directory = new File(System.getProperty("zerohop.conf"));
    conf.addResource(new Path(new File(directory, "core-site.xml").toURI()));
    conf.addResource(new Path(new File(directory, "hdfs-site.xml").toURI()));
    addConfResource("contract-options.xml");
    String uri = System.getProperty("zerohop.uri");
    if (uri != null) {
      conf.set(FileSystem.FS_DEFAULT_NAME_KEY, uri);
      // A new connection each: HTTP has no reads at an offset within one.
      conf.set("fs.file.contract.test.random-seek-count", "20");
      conf.set("fs.webhdfs.impl", System.getProperty("zerohop.impl"));
      // The cache does not ask for the class.
      conf.set("fs.webhdfs.impl.disable.cache", "true");
    }
    conf.set("fs.contract.test.fs." + getScheme(), conf.get(FileSystem.FS_DEFAULT_NAME_KEY));
  }

  @Override
  public String getScheme() {
    return System.getProperty("zerohop.uri") == null ? "hdfs" : "webhdfs";
  }

  @Override
  public Path getTestPath() {
    return new Path("/test");
  }
}
