// The complex object in hessian-lite, which is Dubbo's Hessian, or in fastjson2: the order's row; its Work is "encode" or
// "decode". It is started by the lab and speaks the protocol of the package child.

import com.alibaba.com.caucho.hessian.io.Hessian2Input;
import com.alibaba.com.caucho.hessian.io.Hessian2Output;
import com.alibaba.com.caucho.hessian.io.SerializerFactory;
import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONObject;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Codec {
  interface Contender {
    byte[] encode(Object value) throws IOException;

    Object decode(byte[] data) throws IOException;
  }

  // The factory of serializers is made once, as in a server.
  static class Lite implements Contender {
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final SerializerFactory factory = new SerializerFactory();

    public byte[] encode(Object value) throws IOException {
      out.reset();
      var hessian = new Hessian2Output(out);
      hessian.setSerializerFactory(factory);
      hessian.writeObject(value);
      hessian.flush();
      return out.toByteArray();
    }

    public Object decode(byte[] data) throws IOException {
      var hessian = new Hessian2Input(new ByteArrayInputStream(data));
      hessian.setSerializerFactory(factory);
      return hessian.readObject();
    }
  }

  static class Fastjson implements Contender {
    public byte[] encode(Object value) {
      return JSON.toJSONBytes(value);
    }

    public Object decode(byte[] data) {
      return JSON.parse(data);
    }
  }

  static Map<String, Object> object() {
    var object = new HashMap<String, Object>();
    object.put("string", "hello world");
    object.put("number", 1024.1);
    object.put("boolean", true);
    object.put("array", list("hello", 1024.12, true, foo(), list(1, 2, 3)));
    var inner = new HashMap<String, Object>();
    inner.put("string", "hello");
    inner.put("boolean", true);
    inner.put("array", list("hello", "world"));
    inner.put("number", 1024.123);
    inner.put("obj", foo());
    object.put("obj", inner);
    return object;
  }

  static Map<String, Object> foo() {
    var foo = new HashMap<String, Object>();
    foo.put("foo", "bar");
    return foo;
  }

  static List<Object> list(Object... items) {
    return new ArrayList<>(Arrays.asList(items));
  }

  static FileOutputStream reports;

  static void report(Object document) throws IOException {
    reports.write((JSON.toJSONString(document) + "\n").getBytes(StandardCharsets.UTF_8));
    reports.flush();
  }

  public static void main(String[] args) throws IOException {
    reports = new FileOutputStream("/proc/self/fd/3");
    JSONObject order = JSON.parseObject(System.getenv("SABIR_LAB_ORDER"));
    Contender contender = order.getString("row").equals("fastjson2") ? new Fastjson() : new Lite();
    Object value = object();
    byte[] data = contender.encode(value);
    check(contender.decode(data));
    report(new JSONObject());
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      long nanoseconds = Long.parseLong(line.substring("measure ".length()));
      try {
        report(JSONObject.of("sample", measure(contender, value, data, order.getString("work"), nanoseconds)));
      } catch (Exception e) {
        report(JSONObject.of("error", e.toString()));
      }
    }
  }

  // check compares as JSON: fastjson2 has other types for the same numbers.
  static void check(Object decoded) throws IOException {
    if (!JSON.parse(JSON.toJSONBytes(object())).equals(JSON.parse(JSON.toJSONBytes(decoded)))) throw new IOException("it decodes another object: " + decoded);
  }

  static Object sink; // what a loop made last is kept, so that the compiler cannot drop the work

  static JSONObject measure(Contender contender, Object value, byte[] data, String work, long nanoseconds) throws IOException {
    boolean encodes = work.equals("encode");
    long operations = 0, begun = System.nanoTime(), elapsed = 0;
    for (; elapsed < nanoseconds; elapsed = System.nanoTime() - begun) {
      if (encodes) {
        for (int i = 0; i < 200; i++) sink = contender.encode(value);
      } else {
        for (int i = 0; i < 200; i++) sink = contender.decode(data);
      }
      operations += 200;
    }
    check(encodes ? contender.decode((byte[]) sink) : sink);
    return JSONObject.of("operations", operations, "elapsed", elapsed, "figures", JSONObject.of("mean", (double) elapsed / operations, "bytes", data.length));
  }
}
