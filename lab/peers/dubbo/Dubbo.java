// The benchmark's service and its callers over Apache Dubbo's own protocol. It is started by the lab and speaks the protocol of
// the package child: the order's Work is the method, its Size the connections, its Extra the codec.

import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONObject;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

public class Dubbo {
  public interface Benchmark {
    String ping();

    Map<String, Object> parse(String s, int a, int b);

    String noError();

    CompletableFuture<String> asyncError();

    CompletableFuture<String> panic();
  }

  public static class Service implements Benchmark {
    public String ping() {
      return "echo";
    }

    public Map<String, Object> parse(String s, int a, int b) {
      if (!s.equals("s") || a != 1 || b != 2) throw new IllegalArgumentException("parse was called with others");
      return object();
    }

    public String noError() {
      return "ok";
    }

    public CompletableFuture<String> asyncError() {
      return CompletableFuture.supplyAsync(() -> {
        throw new IllegalStateException("async is not defined");
      });
    }

    public CompletableFuture<String> panic() {
      return CompletableFuture.supplyAsync(() -> {
        String text = null;
        return text.trim();
      });
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

  // One call of a caller, which throws where the answer is wrong.
  interface Call {
    void once(boolean full) throws Exception;
  }

  static Call call(Benchmark benchmark, String method) {
    switch (method) {
      case "ping": return full -> same(benchmark.ping(), "echo");
      case "noError": return full -> same(benchmark.noError(), "ok");
      case "asyncError": return full -> fails(benchmark.asyncError(), "IllegalStateException", "async is not defined");
      case "panic": return full -> fails(benchmark.panic(), "NullPointerException", "");
      case "parse":
        var wanted = object();
        return full -> {
          var reply = benchmark.parse("s", 1, 2);
          if (reply.size() != 5 || ((List<?>) reply.get("array")).size() != 5) throw new Exception("the object has not the shape that it should have");
          if (full) same(reply, wanted);
        };
      default: throw new IllegalArgumentException("no method is called " + method);
    }
  }

  static void same(Object got, Object want) throws Exception {
    if (!want.equals(got)) throw new Exception("got " + got + ", want " + want);
  }

  static void fails(CompletableFuture<String> future, String name, String text) throws Exception {
    try {
      future.get();
    } catch (ExecutionException e) {
      String said = String.valueOf(e.getCause());
      if (said.contains(name) && said.contains(text)) return;
      throw new Exception("it failed with another error: " + said);
    }
    throw new Exception("it did not fail");
  }

  static FileOutputStream reports;

  static void report(Object document) throws IOException {
    reports.write((JSON.toJSONString(document) + "\n").getBytes(StandardCharsets.UTF_8));
    reports.flush();
  }

  public static void main(String[] args) throws Exception {
    reports = new FileOutputStream("/proc/self/fd/3");
    java.util.logging.LogManager.getLogManager().reset();
    JSONObject order = JSON.parseObject(System.getenv("SABIR_LAB_ORDER"));
    try {
      if (order.getString("role").equals("server")) serve(order);
      else ask(order);
    } catch (Throwable e) {
      report(JSONObject.of("error", e.toString()));
      Runtime.getRuntime().halt(1);
    }
    Runtime.getRuntime().halt(0); // Dubbo's own end waits for calls that are under way
  }

  static ApplicationConfig application(String name) {
    var application = new ApplicationConfig(name);
    application.setQosEnable(false);
    application.setRegisterMode("interface");
    return application;
  }

  static String codec(JSONObject order) {
    return order.getJSONObject("extra").getString("codec").equals("json") ? "fastjson2" : "hessian2";
  }

  static void serve(JSONObject order) throws Exception {
    String[] address = order.getString("address").split(":");
    var protocol = new ProtocolConfig("dubbo", Integer.parseInt(address[1]));
    protocol.setHost(address[0]);
    protocol.setSerialization(codec(order));
    protocol.setPreferSerialization(codec(order));
    var service = new ServiceConfig<Benchmark>();
    service.setInterface(Benchmark.class);
    service.setRef(new Service());
    DubboBootstrap.getInstance().application(application("server")).registry(new RegistryConfig("N/A")).protocol(protocol).service(service).start();
    report(new JSONObject());
    System.in.readAllBytes();
  }

  static void ask(JSONObject order) throws Exception {
    var reference = new ReferenceConfig<Benchmark>();
    reference.setInterface(Benchmark.class);
    reference.setUrl("dubbo://" + order.getString("address") + "?serialization=" + codec(order) + "&prefer.serialization=" + codec(order));
    reference.setConnections(order.getIntValue("size"));
    reference.setRetries(0);
    reference.setTimeout(10_000);
    reference.setCheck(true);
    DubboBootstrap.getInstance().application(application("client")).registry(new RegistryConfig("N/A")).reference(reference).start();
    Call call = call(reference.get(), order.getString("work"));
    call.once(true);
    int callers = Math.max(order.getIntValue("callers"), 1);
    report(new JSONObject());
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      try {
        report(JSONObject.of("sample", measure(call, callers, Long.parseLong(line.substring("measure ".length())))));
      } catch (Exception e) {
        report(JSONObject.of("error", e.toString()));
      }
    }
  }

  // A latency goes from the end of the call before to the end of this one, as on Go's side.
  static class Caller extends Thread {
    final Call call;
    final long ends;
    long[] latencies = new long[1 << 14];
    int right;
    long wrong;
    String problem;

    Caller(Call call, long ends) {
      this.call = call;
      this.ends = ends;
    }

    public void run() {
      long last = System.nanoTime();
      for (long n = 0; last < ends && wrong < 100; n++) {
        String failed = null;
        try {
          call.once(n % 1000 == 0);
        } catch (Exception e) {
          failed = e.toString();
        }
        long now = System.nanoTime();
        if (failed == null) {
          if (right == latencies.length) latencies = Arrays.copyOf(latencies, 2 * right);
          latencies[right++] = now - last;
        } else {
          wrong++;
          if (problem == null) problem = failed;
        }
        last = now;
      }
    }
  }

  static JSONObject measure(Call call, int callers, long nanoseconds) throws InterruptedException {
    long begun = System.nanoTime();
    var all = new ArrayList<Caller>();
    for (int i = 0; i < callers; i++) all.add(new Caller(call, begun + nanoseconds));
    for (Caller caller : all) caller.start();
    for (Caller caller : all) caller.join();
    long elapsed = System.nanoTime() - begun;
    long right = 0, wrong = 0;
    String problem = "";
    var counts = new TreeMap<Long, Long>();
    for (Caller caller : all) {
      right += caller.right;
      wrong += caller.wrong;
      if (caller.problem != null) problem = caller.problem;
      for (int i = 0; i < caller.right; i++) counts.merge(threeDigits(caller.latencies[i]), 1L, Long::sum);
    }
    var latencies = new ArrayList<long[]>();
    counts.forEach((latency, count) -> latencies.add(new long[] {latency, count}));
    return JSONObject.of("operations", right, "elapsed", elapsed, "latencies", latencies, "wrong", wrong, "problem", problem);
  }

  static long threeDigits(long latency) {
    long unit = 1;
    while (latency / unit >= 1000) unit *= 10;
    return Math.max(latency / unit * unit, 1);
  }
}
