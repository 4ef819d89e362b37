// One contender on one value: java -cp 'lib/*' Peer.java NAME. It is asked and answers as child.js in the folder above does.

import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONObject;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Peer {
  interface Contender {
    byte[] encode(Object value) throws IOException;

    Object decode(byte[] data) throws IOException;
  }

  // The factory of serializers is made once, as in a server; so is all else that can be used again.
  static class Caucho implements Contender {
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final com.caucho.hessian.io.SerializerFactory factory = new com.caucho.hessian.io.SerializerFactory();
    final com.caucho.hessian.io.Hessian2Output output = new com.caucho.hessian.io.Hessian2Output(out);
    final com.caucho.hessian.io.Hessian2Input input = new com.caucho.hessian.io.Hessian2Input(new ByteArrayInputStream(new byte[0]));

    Caucho() {
      output.setSerializerFactory(factory);
      input.setSerializerFactory(factory);
    }

    public byte[] encode(Object value) throws IOException {
      out.reset();
      output.init(out);
      output.writeObject(value);
      output.flush();
      return out.toByteArray();
    }

    public Object decode(byte[] data) throws IOException {
      input.init(new ByteArrayInputStream(data));
      return input.readObject();
    }
  }

  static class Lite implements Contender {
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final com.alibaba.com.caucho.hessian.io.SerializerFactory factory = new com.alibaba.com.caucho.hessian.io.SerializerFactory();

    public byte[] encode(Object value) throws IOException {
      out.reset();
      var hessian = new com.alibaba.com.caucho.hessian.io.Hessian2Output(out);
      hessian.setSerializerFactory(factory);
      hessian.writeObject(value);
      hessian.flush();
      return out.toByteArray();
    }

    public Object decode(byte[] data) throws IOException {
      var hessian = new com.alibaba.com.caucho.hessian.io.Hessian2Input(new ByteArrayInputStream(data));
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

  static Contender contender(String name) {
    switch (name) {
      case "caucho hessian": return new Caucho();
      case "hessian-lite": return new Lite();
      case "fastjson2": return new Fastjson();
      default: throw new IllegalArgumentException("no contender is named " + name);
    }
  }

  final Contender contender;
  Object value;
  byte[] data;
  Object sink; // what a loop made last is kept, so that the compiler cannot drop the work

  Peer(Contender contender) {
    this.contender = contender;
  }

  public static void main(String[] args) throws IOException {
    var peer = new Peer(contender(args[0]));
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      JSONObject reply;
      try {
        reply = peer.answer(JSON.parseObject(line));
      } catch (Exception e) {
        reply = JSONObject.of("error", e.toString());
      }
      System.out.println(JSON.toJSONString(reply));
      System.out.flush();
    }
  }

  JSONObject answer(JSONObject task) throws IOException {
    switch (task.getString("do")) {
      case "value":
        value = plain(JSON.parse(task.getString("json")));
        data = contender.encode(value);
        return JSONObject.of("data", Base64.getEncoder().encodeToString(data));
      case "answer":
        return JSONObject.of("json", JSON.toJSONString(contender.decode(Base64.getDecoder().decode(task.getString("data")))));
      case "collect":
        System.gc();
        settle();
        return JSONObject.of();
      case "run":
        return run(task.getString("direction"), task.getLongValue("n"));
      default:
        throw new IllegalArgumentException("no task is named " + task.getString("do"));
    }
  }

  // plain has the types that a Java program would use, and that Hessian writes without a type: HashMap and ArrayList.
  static Object plain(Object value) {
    if (value instanceof Map<?, ?> map) {
      var plain = new HashMap<String, Object>();
      map.forEach((name, item) -> plain.put((String) name, plain(item)));
      return plain;
    }
    if (value instanceof List<?> list) {
      var plain = new ArrayList<Object>(list.size());
      list.forEach(item -> plain.add(plain(item)));
      return plain;
    }
    return value instanceof BigDecimal number ? (Object) number.doubleValue() : value;
  }

  JSONObject run(String direction, long n) throws IOException {
    long started = System.nanoTime();
    if (direction.equals("encode")) {
      for (long i = 0; i < n; i++) sink = contender.encode(value);
    } else {
      for (long i = 0; i < n; i++) sink = contender.decode(data);
    }
    long wall = System.nanoTime() - started;
    settle();
    return JSONObject.of("wall", wall);
  }

  // settle sleeps for a moment: the system brings the CPU time of a process up to date when it sleeps, and the one who asked
  // reads it as soon as the answer is there.
  static void settle() {
    try {
      Thread.sleep(2);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
