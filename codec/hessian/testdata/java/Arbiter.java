// Arbiter has the Java library write and judge values of Hessian 2.0. It needs com.caucho:hessian and
// javax.servlet:servlet-api in its class path.
//
//   java -cp ... Arbiter.java replies DIR   writes what each reply* method of the library's own test gives to DIR/NAME.bin
//   java -cp ... Arbiter.java extras DIR    writes values beyond that test to DIR/NAME.bin
//   java -cp ... Arbiter.java judge DIR     reads each DIR/arg*.bin and asks the arg* method whether it is what it expects
//   java -cp ... Arbiter.java echo DIR      reads each DIR/*.bin, prints what it is and writes it back to DIR/*.out
import com.caucho.hessian.io.Hessian2Input;
import com.caucho.hessian.io.Hessian2Output;
import com.caucho.hessian.test.TestCons;
import com.caucho.hessian.test.TestHessian2Servlet;
import com.caucho.hessian.test.TestObject;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public class Arbiter {
  public enum Color { RED, GREEN }

  public static void main(String[] args) throws Exception {
    File dir = new File(args[1]);
    switch (args[0]) {
      case "replies": replies(dir); break;
      case "extras": extras(dir); break;
      case "judge": judge(dir); break;
      case "echo": echo(dir); break;
      default: throw new IllegalArgumentException(args[0]);
    }
  }

  static byte[] write(Object value) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Hessian2Output out = new Hessian2Output(bytes);
    out.writeObject(value);
    out.close();
    return bytes.toByteArray();
  }

  static Object read(byte[] data) throws Exception {
    Hessian2Input in = new Hessian2Input(new ByteArrayInputStream(data));
    Object value = in.readObject();
    if (!in.isEnd()) throw new IllegalStateException("bytes after the value");
    return value;
  }

  static void replies(File dir) throws Exception {
    TestHessian2Servlet test = new TestHessian2Servlet();
    for (Method m : TestHessian2Servlet.class.getMethods()) {
      if (m.getName().startsWith("reply") && m.getParameterCount() == 0) {
        Files.write(new File(dir, m.getName() + ".bin").toPath(), write(m.invoke(test)));
      }
    }
  }

  static void judge(File dir) throws Exception {
    TestHessian2Servlet test = new TestHessian2Servlet();
    Method[] methods = TestHessian2Servlet.class.getMethods();
    Arrays.sort(methods, (a, b) -> a.getName().compareTo(b.getName()));
    for (Method reply : methods) {
      if (!reply.getName().startsWith("reply")) continue;
      String name = reply.getName().replace("reply", "arg");
      File file = new File(dir, name + ".bin");
      // The test has no judge for a null String and a null byte[]: on the wire all nulls are the same.
      Method judge = TestHessian2Servlet.class.getMethod(name.endsWith("_null") ? "argNull" : name, Object.class);
      String verdict;
      try {
        Object answer = file.exists() ? judge.invoke(test, read(Files.readAllBytes(file.toPath()))) : "no file";
        verdict = Boolean.TRUE.equals(answer) ? "ok" : "refused " + answer;
      } catch (Throwable e) {
        verdict = "failed " + e + " " + e.getCause();
      }
      System.out.println(name + " " + verdict);
    }
  }

  static void echo(File dir) throws Exception {
    File[] files = dir.listFiles((d, name) -> name.endsWith(".bin"));
    Arrays.sort(files);
    for (File file : files) {
      String name = file.getName().replace(".bin", "");
      try {
        Object value = read(Files.readAllBytes(file.toPath()));
        System.out.println(name + " " + (value == null ? "null" : value.getClass().getName() + " " + text(value)));
        Files.write(new File(dir, name + ".out").toPath(), write(value));
      } catch (Throwable e) {
        System.out.println(name + " failed " + e);
      }
    }
  }

  static String text(Object value) {
    if (value instanceof Throwable) return value.toString() + " cause " + ((Throwable) value).getCause();
    if (value instanceof int[]) return Arrays.toString((int[]) value);
    if (value instanceof double[]) return Arrays.toString((double[]) value);
    if (value instanceof Object[]) return Arrays.toString((Object[]) value);
    if (value instanceof String) return ((String) value).length() + " " + value.hashCode();
    return value.toString();
  }

  static void extras(File dir) throws Exception {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("short", (short) 300);
    all.put("byte", (byte) -3);
    all.put("float", 1.5f);
    all.put("char", 'x');
    all.put("boxedShorts", new Short[] {1, -2});
    all.put("shorts", new short[] {1, -2});
    all.put("ints", new int[] {1, 1 << 30});
    all.put("longs", new long[] {1, 1L << 40});
    all.put("doubles", new double[] {1, 0.5, 1.25, 1e300});
    all.put("booleans", new boolean[] {true, false});
    all.put("decimal", new BigDecimal("-12.50"));
    all.put("enum", Color.GREEN);
    all.put("enums", new ArrayList<>(List.of(Color.RED, Color.GREEN, Color.RED)));
    all.put("sqlTimestamp", new java.sql.Timestamp(894621091123L));
    all.put("linkedList", new LinkedList<>(List.of("a", "b")));
    all.put("hashSet", new HashSet<>(List.of("a")));
    TreeMap<String, Object> tree = new TreeMap<>();
    tree.put("a", 1);
    tree.put("b", List.of());
    all.put("treeMap", tree);
    all.put("emoji", "a\ud83d\ude00b");
    all.put("loneSurrogate", "a\ud83db");
    StringBuilder pairs = new StringBuilder("x");
    for (int i = 0; i < 40000; i++) pairs.append("\ud83d\ude00");
    all.put("emojiChunks", pairs.toString());
    all.put("dateBefore1970", new Date(-1L));
    all.put("dateMinuteBefore1970", new Date(-60000L));
    Map<String, Object> shared = new LinkedHashMap<>();
    TestObject object = new TestObject("v");
    List<Object> list = new ArrayList<>();
    list.add(object);
    list.add(list);
    shared.put("object", object);
    shared.put("list", list);
    shared.put("date", new Date(1));
    shared.put("again", object);
    shared.put("listAgain", list);
    all.put("shared", shared);
    List<Object> types = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      types.add(new LinkedList<>(List.of(i)));
      types.add(new TreeMap<>(Map.of("k", i)));
      types.add(new TestCons(i, null));
    }
    all.put("types", types);
    for (Map.Entry<String, Object> e : all.entrySet()) {
      Files.write(new File(dir, e.getKey() + ".bin").toPath(), write(e.getValue()));
    }
    // A Throwable needs --add-opens java.base/java.lang=ALL-UNNAMED.
    Throwable thrown = new IllegalStateException("closed", new RuntimeException("inner"));
    thrown.addSuppressed(new Error("late"));
    StackTraceElement[] trace = {new StackTraceElement("com.example.Door", "open", "Door.java", 12)};
    thrown.setStackTrace(trace);
    thrown.getCause().setStackTrace(trace);
    thrown.getSuppressed()[0].setStackTrace(new StackTraceElement[0]);
    Files.write(new File(dir, "exception.bin").toPath(), write(thrown));
    Files.write(new File(dir, "bigInteger.bin").toPath(), write(new BigInteger("-123456789012345678901234567890")));
  }
}
