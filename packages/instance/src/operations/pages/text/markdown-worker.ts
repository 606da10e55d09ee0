import { parentPort } from "node:worker_threads";
import type { CapturedPage } from "../sight/captured-page.ts";
import { convertPage } from "./convert-page.ts";

parentPort?.on("message", (page: CapturedPage) => {
  parentPort?.postMessage(convertPage(page));
});
