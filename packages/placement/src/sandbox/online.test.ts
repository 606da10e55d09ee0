import { openPlacement } from "../testing/placements.ts";
import { describeWith } from "../testing/requirements.ts";
import { examineSandbox } from "./support.ts";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";

const support = await examineSandbox();
const hasInterfaces = support.works && support.interfaces;

const code = `
  const watch = async () => {
    const worker = new Worker(URL.createObjectURL(new Blob(["onmessage = () => postMessage(navigator.onLine)"])));
    const ofWorker = await new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage("");
    });
    return [navigator.onLine, ofWorker];
  };
  await page.goto("data:text/html,<title>online</title>");
  const found = [...(await page.evaluate(watch))];
  await page.evaluate(() => {
    window.events = [];
    for (const type of ["online", "offline"]) addEventListener(type, () => window.events.push(type));
  });
  await context.setOffline(true);
  await page.waitForFunction(() => !navigator.onLine);
  await context.setOffline(false);
  await page.waitForFunction(() => navigator.onLine && window.events.length === 2);
  return [...found, ...(await page.evaluate(() => window.events))];
`;

describeWith(["linux", "chromium", "bubblewrap"], "pages in a box", () => {
  it.skipIf(!hasInterfaces)("are online, and hear when a client takes them offline and back", async () => {
    const { placement } = await openPlacement({ kind: "sandbox" });
    const instance = await placement.acquire({ session_id: "s1", timeout_seconds: 3_600 });
    const answer = await instance.request(
      { method: "POST", path: "/playwright/execute", headers: { "content-type": "application/json" } },
      JSON.stringify({ code }),
    );
    expect(JSON.parse(await text(answer))).toMatchObject({ success: true, result: [true, true, "offline", "online"] });
  });
});
