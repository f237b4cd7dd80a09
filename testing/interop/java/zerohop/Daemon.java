package zerohop;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.qjournal.server.JournalNode;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.hdfs.server.namenode.ha.BootstrapStandby;
import org.apache.hadoop.hdfs.tools.DFSZKFailoverController;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Runs one of Apache's daemons from a configuration directory: {@code Daemon namenode|datanode|journalnode|zkfc|format|bootstrapStandby|recover DIR},
 * with a daemon's start options behind.
 * The directory is an argument and not on the class path, because a class path with a directory in it
 * cannot use an archive of loaded classes, and that archive halves the start-up time.
 * The process ends when its standard input does, so it cannot outlive the harness.
 */
public final class Daemon {
  private Daemon() {}

  static Configuration conf(String dir) {
    Configuration conf = new HdfsConfiguration();
    for (String name : new String[] {"core-site.xml", "hdfs-site.xml"}) {
      File file = new File(dir, name);
      if (file.exists()) {
        conf.addResource(new Path(file.toURI()));
      }
    }
    UserGroupInformation.setConfiguration(conf);
    return conf;
  }

  static DataNode dataNode(String[] options, Configuration conf) throws Exception {
    DataNode node = DataNode.instantiateDataNode(options, conf);
    node.runDatanodeDaemon();
    return node;
  }

  /** A failover controller, as its main function starts it. */
  static int zkfc(Configuration conf) throws Exception {
    // The process ends with its standard input, as all of these do.
    Thread ends = new Thread(() -> {
      try {
        while (System.in.read() >= 0) {
          // Nothing is asked of it this way.
        }
      } catch (java.io.IOException e) {
        // Then it ends, too.
      }
      System.exit(0);
    });
    ends.setDaemon(true);
    ends.start();
    return DFSZKFailoverController.create(conf).run(new String[0]);
  }

  public static void main(String[] args) throws Exception {
    // What is read anew while a daemon runs (the host files' names) is looked for on the class path.
    URL[] directory = {new File(args[1]).toURI().toURL()};
    Thread.currentThread().setContextClassLoader(new URLClassLoader(directory, Daemon.class.getClassLoader()));
    Configuration conf = conf(args[1]);
    String[] options = Arrays.copyOfRange(args, 2, args.length);
    switch (args[0]) {
      case "format":
        NameNode.format(conf);
        System.exit(0);
        break;
      case "bootstrapStandby":
        System.exit(BootstrapStandby.run(new String[] {"-nonInteractive"}, conf));
        break;
      case "recover":
        NameNode.createNameNode(new String[] {"-recover", "-force"}, conf);
        System.exit(0);
        break;
      case "zkfc":
        System.exit(zkfc(conf));
        break;
      case "journalnode":
        JournalNode journalNode = new JournalNode();
        journalNode.setConf(conf);
        journalNode.start();
        break;
      case "namenode":
        NameNode.createNameNode(options, conf);
        break;
      case "datanode":
        dataNode(options, conf);
        break;
      default:
        throw new IllegalArgumentException(args[0]);
    }
    System.out.println("serving");
    while (System.in.read() >= 0) {
      // Nothing is asked of a daemon this way.
    }
    System.exit(0);
  }
}
