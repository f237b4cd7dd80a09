/* An empty library for programs that load a JVM before libhdfs.so and never call it, such as Arrow's HadoopFileSystem:
 *     cc -shared -o $JAVA_HOME/lib/server/libjvm.so libjvm.c */
const char zerohop_needs_no_jvm[] = "libhdfs.so of zerohop needs no JVM";
