import { parentPort } from "node:worker_threads";
import type { CapturedPage } from "../sight/captured-page.ts";
import { convertPage } from "./convert-page.ts";
import type { PdfSource } from "./pdf-text.ts";

parentPort?.on("message", (source: CapturedPage | PdfSource) => {
  if ("kind" in source) void answerPdf(source);
  else parentPort?.postMessage(convertPage(source));
});

/** Its library is larger than all other parts. */
async function answerPdf(source: PdfSource): Promise<void> {
  const { readPdf } = await import("./pdf-text.ts");
  parentPort?.postMessage(await readPdf(source));
}
