package zerohop;

import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractBondedFSContract;

/** The file system under test: whatever cluster the directory in the property {@code zerohop.conf} names. */
public final class Contract extends AbstractBondedFSContract {
  public Contract(Configuration conf) {
    super(conf);
    File directory = new File(System.getProperty("zerohop.conf"));
    conf.addResource(new Path(new File(directory, "core-site.xml").toURI()));
    conf.addResource(new Path(new File(directory, "hdfs-site.xml").toURI()));
    addConfResource("contract-options.xml");
    conf.set("fs.contract.test.fs.hdfs", conf.get(FileSystem.FS_DEFAULT_NAME_KEY));
  }

  @Override
  public String getScheme() {
    return "hdfs";
  }

  @Override
  public Path getTestPath() {
    return new Path("/test");
  }
}
