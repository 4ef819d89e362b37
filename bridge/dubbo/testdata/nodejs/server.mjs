// Offers com.shop.Adder by Dubbo for JavaScript, at the port of its argument, until its standard input ends.
import http2 from "node:http2";
import { Code, DubboError } from "@apachedubbo/dubbo";
import { dubboNodeAdapter } from "@apachedubbo/dubbo-node";
import { Adder } from "./adder.mjs";

const routes = (router) =>
  router.service(
    Adder,
    {
      async add({ a, b }, context) {
        if (a === 0n) {
          throw new DubboError("a is 0", Code.InvalidArgument);
        }
        context.responseHeader.set("seen", `node to ${context.requestHeader.get("user")}`);
        context.responseTrailer.set("behind", "it");
        return { sum: a + b };
      },
      async *count({ a }) {
        for (let i = 1n; i <= a; i++) {
          yield { sum: i };
        }
        if (a < 0n) {
          throw new DubboError("a is below 0", Code.OutOfRange);
        }
      },
      async wait(_, context) {
        context.signal.addEventListener("abort", () => console.log("left"));
        await new Promise((_, reject) => context.signal.addEventListener("abort", () => reject(context.signal.reason)));
      },
      async *totals(pairs) {
        for await (const { a, b } of pairs) {
          yield { sum: a + b };
        }
      },
    },
    { serviceVersion: "1.0.0" },
  );
http2.createServer(dubboNodeAdapter({ routes })).listen(Number(process.argv[2]), "127.0.0.1", () => console.log("ready"));
process.stdin.on("end", () => process.exit(0)).resume();
