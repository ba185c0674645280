package hadoop;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeys;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.util.ToolRunner;
import org.apache.hadoop.yarn.client.cli.ApplicationCLI;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.nodemanager.NodeManager;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.log4j.BasicConfigurator;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;

/**
 * A real HDFS and a real YARN in one process, all on loopback: NameNode, two DataNodes, ResourceManager, two NodeManagers.
 *
 * <p>The property `folder` says where all that they keep is; its folder `conf` is a HADOOP_CONF_DIR. Each line of the input is
 * a command, its words apart by tabs. It is answered with {"kind": "said"}, its status and what it printed, and {"kind": "done"};
 * the end of the input ends all.
 */
public final class HadoopCluster {
  private static final String ANY_PORT = "127.0.0.1:0";
  private static final int NODES = 2;

  private final File folder;
  private final Configuration configuration = new YarnConfiguration();
  private MiniDFSCluster hdfs;

  private HadoopCluster(File folder) {
    this.folder = folder;
  }

  public static void main(String[] arguments) {
    int status = 1;
    try {
      answerAll();
      status = 0;
    } catch (Exception failure) {
      failure.printStackTrace();
    } finally {
      System.exit(status); // the servers have threads that would go on
    }
  }

  private static void answerAll() throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err); // of what logs
    BasicConfigurator.configure();
    Logger.getRootLogger().setLevel(Level.WARN);
    DefaultMetricsSystem.setMiniClusterMode(true);
    HadoopCluster cluster = new HadoopCluster(new File(System.getProperty("folder")));
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String command = commands.readLine(); command != null; command = commands.readLine()) {
      ByteArrayOutputStream said = new ByteArrayOutputStream();
      System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
      int status = cluster.obey(command.split("\t"));
      String printed = Base64.getEncoder().encodeToString(said.toByteArray());
      answers.printf("{\"kind\": \"said\", \"status\": %d, \"base64\": \"%s\"}%n", status, printed);
      answers.println("{\"kind\": \"done\"}");
    }
  }

  /** Gives the status of a command of Hadoop's own, or 0. */
  private int obey(String[] words) throws Exception {
    switch (words[0]) {
      case "start HDFS" -> startHdfs();
      case "start YARN" -> startYarn();
      case "stop NameNode" -> hdfs.shutdownNameNode(0);
      case "start NameNode" -> hdfs.restartNameNode(0, true);
      case "dfs" -> {
        return ToolRunner.run(new FsShell(configuration), rest(words));
      }
      case "yarn" -> {
        ApplicationCLI tool = new ApplicationCLI();
        tool.setSysOutPrintStream(System.out);
        tool.setSysErrPrintStream(System.err);
        return ToolRunner.run(configuration, tool, rest(words));
      }
      default -> throw new IllegalArgumentException(words[0]);
    }
    return 0;
  }

  private static String[] rest(String[] words) {
    return Arrays.copyOfRange(words, 1, words.length);
  }

  private void startHdfs() throws Exception {
    configuration.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder + "/hdfs");
    hdfs = new MiniDFSCluster.Builder(configuration).numDataNodes(NODES).build();
    hdfs.waitActive();
    Configuration ofClients = new Configuration(false);
    String address = hdfs.getURI().toString();
    configuration.set(CommonConfigurationKeys.FS_DEFAULT_NAME_KEY, address);
    ofClients.set(CommonConfigurationKeys.FS_DEFAULT_NAME_KEY, address);
    write("core-site.xml", ofClients);
    System.out.print(address);
  }

  private void startYarn() throws Exception {
    configuration.set(YarnConfiguration.RM_HOSTNAME, "127.0.0.1");
    for (String address :
        new String[] {
          YarnConfiguration.RM_ADDRESS,
          YarnConfiguration.RM_SCHEDULER_ADDRESS,
          YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS,
          YarnConfiguration.RM_ADMIN_ADDRESS,
          YarnConfiguration.RM_WEBAPP_ADDRESS
        }) {
      configuration.set(address, ANY_PORT);
    }
    configuration.set("yarn.scheduler.capacity.root.queues", "default");
    configuration.set("yarn.scheduler.capacity.root.default.capacity", "100");
    configuration.set("yarn.scheduler.capacity.maximum-am-resource-percent", "1");
    configuration.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 128);
    ResourceManager resourceManager = new ResourceManager();
    resourceManager.init(configuration);
    resourceManager.start();
    Configuration told = resourceManager.getConfig();
    for (int node = 0; node < NODES; node++) {
      startNode(new YarnConfiguration(told), folder + "/node-" + node);
    }
    Configuration ofClients = new Configuration(false);
    for (String name :
        new String[] {
          YarnConfiguration.RM_HOSTNAME,
          YarnConfiguration.RM_ADDRESS,
          YarnConfiguration.RM_SCHEDULER_ADDRESS,
          YarnConfiguration.RM_ADMIN_ADDRESS,
          YarnConfiguration.RM_WEBAPP_ADDRESS
        }) {
      ofClients.set(name, told.get(name));
    }
    write("yarn-site.xml", ofClients);
  }

  private static void startNode(Configuration told, String folder) {
    for (String address :
        new String[] {
          YarnConfiguration.NM_ADDRESS,
          YarnConfiguration.NM_LOCALIZER_ADDRESS,
          YarnConfiguration.NM_WEBAPP_ADDRESS
        }) {
      told.set(address, ANY_PORT);
    }
    told.set(YarnConfiguration.NM_LOCAL_DIRS, folder + "/local");
    told.set(YarnConfiguration.NM_LOG_DIRS, folder + "/logs");
    // The disk of a machine that runs tests may be nearly full.
    told.setFloat(YarnConfiguration.NM_MAX_PER_DISK_UTILIZATION_PERCENTAGE, 100);
    NodeManager node = new NodeManager();
    node.init(told);
    node.start();
    // Containers would outlive a NodeManager that does not stop.
    Runtime.getRuntime().addShutdownHook(new Thread(node::stop));
  }

  private void write(String name, Configuration settings) throws IOException {
    File conf = new File(folder, "conf");
    conf.mkdirs();
    try (OutputStream file = new FileOutputStream(new File(conf, name))) {
      settings.writeXml(file);
    }
  }
}
