package zerohop;

import io.airlift.compress.zstd.ZstdCodec;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BooleanWritable;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.EnumSetWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.io.MapWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.ObjectWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.SequenceFile.CompressionType;
import org.apache.hadoop.io.SequenceFile.Writer;
import org.apache.hadoop.io.ShortWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VIntWritable;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.util.NativeCodeLoader;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hadoop.util.ToolRunner;

/**
 * Codecs DIRECTORY: reads DIRECTORY/ours/plain.EXT and writes DIRECTORY/theirs/plain.EXT with Apache's codecs, and with
 * aircompressor's of LZO, and of zstd where Apache's lacks its native library; writes SequenceFiles and Avro files to DIRECTORY/records, and what Apache's -text says of them
 * to DIRECTORY/text/NAME; shows the files in DIRECTORY/behind as DIRECTORY/behind-text/NAME, with the exit code in
 * NAME.code. Prints the codecs that were tried.
 */
public final class Codecs {
  private static final String APACHE = "org.apache.hadoop.io.compress.";
  private static final String AIRLIFT = "io.airlift.compress.lzo.";

  private Codecs() {}

  public static void main(String[] args) throws Exception {
    File directory = new File(args[0]);
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", "file:///");
    conf.set("io.compression.codecs", AIRLIFT + "LzoCodec," + AIRLIFT + "LzopCodec");
    byte[] plain = Files.readAllBytes(new File(directory, "plain").toPath());
    List<String> classes =
        new ArrayList<>(
            Arrays.asList(
                APACHE + "GzipCodec",
                APACHE + "DefaultCodec",
                APACHE + "BZip2Codec",
                APACHE + "SnappyCodec",
                APACHE + "Lz4Codec",
                AIRLIFT + "LzoCodec",
                AIRLIFT + "LzopCodec"));
    if (NativeCodeLoader.isNativeCodeLoaded() && NativeCodeLoader.buildSupportsZstd()) {
      classes.add(APACHE + "ZStandardCodec");
    }
    for (String name : classes) {
      CompressionCodec codec =
          (CompressionCodec) ReflectionUtils.newInstance(conf.getClassByName(name), conf);
      both(codec, directory, plain);
      // aircompressor cannot read back SequenceFiles that it wrote in lzop's format.
      CompressionType[] types =
          name.endsWith("LzopCodec")
              ? new CompressionType[] {}
              : new CompressionType[] {CompressionType.RECORD, CompressionType.BLOCK};
      for (CompressionType type : types) {
        String file = type.toString().toLowerCase() + "-" + codec.getClass().getSimpleName();
        sequence(conf, new Path(directory.getPath(), "records/" + file), type, codec);
      }
      System.out.println("tried " + codec.getDefaultExtension());
      if (types.length > 0) {
        System.out.println("sequence files " + codec.getDefaultExtension());
      }
    }
    if (!classes.contains(APACHE + "ZStandardCodec")) {
      // A libhadoop.so may be built without zstd. aircompressor's streams have the same format; the name of its class in
      // SequenceFiles is its own.
      both(new ZstdCodec(), directory, plain);
      System.out.println("tried .zst");
    }
    sequence(conf, new Path(directory.getPath(), "records/none"), CompressionType.NONE, null);
    for (String codec : new String[] {"null", "deflate", "snappy", "bzip2"}) {
      avro(new File(directory, "records/avro-" + codec), codec);
    }
    types(conf, new File(directory, "records").getPath());
    text(conf, directory, "records", "text", false);
    text(conf, directory, "behind", "behind-text", true);
    System.out.println("done");
  }

  /** Reads ours, writes theirs. */
  private static void both(CompressionCodec codec, File directory, byte[] plain)
      throws IOException {
    String name = "plain" + codec.getDefaultExtension();
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    try (InputStream in =
        codec.createInputStream(Files.newInputStream(new File(directory, "ours/" + name).toPath()))) {
      byte[] buffer = new byte[10000];
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        read.write(buffer, 0, count);
      }
    }
    if (!Arrays.equals(read.toByteArray(), plain)) {
      throw new IOException(name + ": " + read.size() + " bytes that are others than " + plain.length);
    }
    try (OutputStream out =
        codec.createOutputStream(new FileOutputStream(new File(directory, "theirs/" + name)))) {
      // One small write, then one that is longer than any buffer.
      out.write(plain, 0, 1000);
      out.write(plain, 1000, plain.length - 1000);
    }
  }

  private static void sequence(
      Configuration conf, Path path, CompressionType type, CompressionCodec codec)
      throws IOException {
    Writer.Option compression =
        codec == null ? Writer.compression(type) : Writer.compression(type, codec);
    try (Writer writer =
        SequenceFile.createWriter(
            conf,
            Writer.file(path),
            Writer.keyClass(LongWritable.class),
            Writer.valueClass(Text.class),
            compression)) {
      for (int i = 0; i < 3000; i++) {
        writer.append(new LongWritable(i * 1000003L - 5), new Text("value é " + "x".repeat(i % 100)));
      }
    }
    Path other = new Path(path.getParent(), path.getName() + "-other");
    try (Writer writer =
        SequenceFile.createWriter(
            conf,
            Writer.file(other),
            Writer.keyClass(DoubleWritable.class),
            Writer.valueClass(BytesWritable.class),
            compression)) {
      Writable[] keys = {new DoubleWritable(0.5), new DoubleWritable(1e10), new DoubleWritable(-3)};
      for (Writable key : keys) {
        writer.append(key, new BytesWritable(new byte[] {1, -1, 0}));
        writer.append(key, new BytesWritable());
      }
    }
  }

  /** Values of Hadoop's other types, and the smallest numbers that all JDKs show alike. */
  private static void types(Configuration conf, String directory) throws IOException {
    List<Writable> maps = new ArrayList<>();
    for (int count : new int[] {0, 3, 40, 5, 13}) {
      maps.add(map(count));
    }
    write(conf, directory + "/type-map", maps);
    write(
        conf,
        directory + "/type-object",
        Arrays.asList(
            new ObjectWritable("text \u00e9 \ud83d\ude00"),
            new ObjectWritable(Integer.TYPE, 7),
            new ObjectWritable(Character.TYPE, 'x'),
            new ObjectWritable(Double.TYPE, Double.MIN_VALUE),
            new ObjectWritable(Boolean.TYPE, true),
            new ObjectWritable(new Text("inner")),
            new ObjectWritable(Writable.class, new LongWritable(-8)),
            new ObjectWritable(Text.class, null),
            new ObjectWritable(CompressionType.BLOCK),
            new ObjectWritable(map(3))));
    write(conf, directory + "/type-md5", Arrays.asList(MD5Hash.digest("a"), MD5Hash.digest("b")));
    write(
        conf,
        directory + "/type-enums",
        Arrays.asList(
            new EnumSetWritable<>(EnumSet.of(CompressionType.NONE, CompressionType.BLOCK)),
            new EnumSetWritable<>(EnumSet.noneOf(CompressionType.class), CompressionType.class),
            new EnumSetWritable<>(null, CompressionType.class)));
    write(
        conf,
        directory + "/type-float",
        Arrays.asList(
            new FloatWritable(Float.MIN_VALUE),
            new FloatWritable(-2 * Float.MIN_VALUE),
            new FloatWritable(Float.MAX_VALUE)));
    write(
        conf,
        directory + "/type-double",
        Arrays.asList(
            new DoubleWritable(Double.MIN_VALUE),
            new DoubleWritable(3 * Double.MIN_VALUE),
            new DoubleWritable(Double.MIN_NORMAL),
            new DoubleWritable(Double.MAX_VALUE)));
    write(conf, directory + "/type-short", Arrays.asList(new ShortWritable((short) -3)));
    write(conf, directory + "/type-byte", Arrays.asList(new ByteWritable((byte) -128)));
    write(conf, directory + "/type-vlong", Arrays.asList(new VLongWritable(Long.MIN_VALUE)));
  }

  /** Keys of all types whose place in a hash table is known. */
  private static MapWritable map(int count) {
    MapWritable map = new MapWritable();
    for (int i = 0; i < count; i++) {
      Writable[] keys = {
        new Text("key " + i), new IntWritable(i * 16), new LongWritable(-i), new VIntWritable(i),
        new BytesWritable(new byte[] {(byte) i, -1}), new DoubleWritable(i / 3.0), new FloatWritable(i)
      };
      Writable[] values = {new Text("é" + i), NullWritable.get(), new BooleanWritable(i % 2 == 0)};
      map.put(keys[i % keys.length], values[i % values.length]);
    }
    if (count == 13) {
      map.put(new ShortWritable((short) 5), map(4));
      map.put(new ByteWritable((byte) -5), MD5Hash.digest("c"));
      map.put(NullWritable.get(), new ObjectWritable(new IntWritable(1)));
      map.put(new BooleanWritable(false), new BooleanWritable(true));
    }
    return map;
  }

  private static void write(Configuration conf, String path, List<? extends Writable> values)
      throws IOException {
    try (Writer writer =
        SequenceFile.createWriter(
            conf,
            Writer.file(new Path(path)),
            Writer.keyClass(IntWritable.class),
            Writer.valueClass(values.get(0).getClass()))) {
      for (int i = 0; i < values.size(); i++) {
        writer.append(new IntWritable(i), values.get(i));
      }
    }
  }

  private static void avro(File file, String codec) throws IOException {
    Schema schema =
        new Schema.Parser()
            .parse(
                "{'type':'record','name':'R','namespace':'some.space','fields':["
                    .concat("{'name':'i','type':'int'},{'name':'l','type':['null','long']},")
                    .concat("{'name':'s','type':['null','string','R']},{'name':'b','type':'bytes'},")
                    .concat("{'name':'f','type':'float'},{'name':'d','type':'double'},")
                    .concat("{'name':'e','type':{'type':'enum','name':'E','symbols':['X','Y']}},")
                    .concat("{'name':'a','type':{'type':'array','items':['null','boolean']}},")
                    .concat("{'name':'m','type':{'type':'map','values':'string'}},")
                    .concat("{'name':'x','type':{'type':'fixed','name':'F','size':3}}]}")
                    .replace('\'', '"'));
    try (DataFileWriter<GenericRecord> writer =
        new DataFileWriter<>(new GenericDatumWriter<GenericRecord>(schema))) {
      writer.setCodec(CodecFactory.fromString(codec));
      writer.create(schema, file);
      for (int i = 0; i < 2000; i++) {
        GenericRecord inner = record(schema, i, null);
        writer.append(record(schema, -i, i % 3 == 0 ? inner : i % 3 == 1 ? "a\"\\\n\u0007/é\ud83d\ude00\uffff\u007f" : null));
      }
    }
  }

  private static GenericRecord record(Schema schema, int i, Object s) {
    GenericData.Record record = new GenericData.Record(schema);
    record.put("i", i);
    record.put("l", i % 2 == 0 ? null : (long) i << 33);
    record.put("s", s);
    record.put("b", java.nio.ByteBuffer.wrap(new byte[] {(byte) i, 'z', '"', (byte) 0xe9}));
    record.put("f", i == 7 ? Float.NaN : i == 8 ? Float.MIN_VALUE : i / 4f);
    record.put(
        "d", i == 9 ? Double.NEGATIVE_INFINITY : i == 10 ? Double.MIN_VALUE : i * 1e6);
    record.put("e", new GenericData.EnumSymbol(schema.getField("e").schema(), i % 2 == 0 ? "X" : "Y"));
    record.put("a", i % 2 == 0 ? Arrays.asList() : Arrays.asList(true, null, false));
    record.put("m", java.util.Collections.singletonMap("key \ud83d\ude00", "value " + i));
    record.put("x", new GenericData.Fixed(schema.getField("x").schema(), new byte[] {1, 2, 3}));
    return record;
  }

  /** What Apache's shell says of each file. */
  private static void text(
      Configuration conf, File directory, String from, String into, boolean mayFail)
      throws Exception {
    PrintStream before = System.out;
    for (File file : new File(directory, from).listFiles()) {
      if (file.getName().startsWith(".")) {
        continue;
      }
      File to = new File(directory, into + "/" + file.getName());
      try (PrintStream out = new PrintStream(new FileOutputStream(to), false, "UTF-8")) {
        System.setOut(out);
        int code;
        try {
          code = ToolRunner.run(conf, new FsShell(), new String[] {"-text", file.getPath()});
        } catch (RuntimeException | Error thrown) {
          if (!mayFail) {
            throw thrown;
          }
          code = -1;
        }
        out.flush();
        if (mayFail) {
          Files.write(new File(to.getPath() + ".code").toPath(), Integer.toString(code).getBytes());
        } else if (code != 0) {
          throw new IOException("-text " + file + ": " + code);
        }
      } finally {
        System.setOut(before);
      }
    }
    before.flush();
  }
}
