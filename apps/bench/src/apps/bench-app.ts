import { app } from "@shoal/client/app";
import { setTimeout as delay } from "node:timers/promises";

const bench = app("bench");

bench.action("start", () => ({ at: Date.now() + (performance.now() % 1) }));
bench.action("run", async (_context, payload) => {
  const { number } = payload as { number: number };
  console.log(`ran ${String(number)}`);
  await delay(50);
  return number;
});
