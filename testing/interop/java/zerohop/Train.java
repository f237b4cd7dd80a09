package zerohop;

import java.io.BufferedReader;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringReader;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/**
 * Loads what a NameNode, a DataNode and a client load, once, so that the archive of classes written
 * when this program ends speeds every later start up: {@code Train CONF_DIR}.
 */
public final class Train {
  private Train() {}

  public static void main(String[] args) throws Exception {
    Thread.setDefaultUncaughtExceptionHandler((thread, t) -> {
      t.printStackTrace();
      System.exit(1);
    });
    // Several daemons in one process would otherwise quarrel about the names of their metrics.
    DefaultMetricsSystem.setMiniClusterMode(true);
    Configuration conf = Daemon.conf(args[0]);
    NameNode.format(conf);
    NameNode nameNode = NameNode.createNameNode(new String[0], conf);
    DataNode dataNode = Daemon.dataNode(new String[0], conf);
    String script = String.join("\n",
        "\tmkdir\t/a", "\tput\t/a/f\t100000\t1\t1\t1048576", "\tread\t/a/f\t0\t-1", "\tlist\t/a",
        "\tstat\t/a/f", "\tlocations\t/a/f\t0\t10", "\tchecksum\t/a/f", "\tlive", "\tsafemode\tget",
        "alice\tmkdir\t/a/b", "\trename\t/a/f\t/a/g", "\tdelete\t/a\ttrue", "");
    new Driver(conf).serve(new BufferedReader(new StringReader(script)), new PrintWriter(System.out));
    dataNode.shutdown();
    nameNode.stop();
    System.exit(0);
  }
}
