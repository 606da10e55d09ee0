import { describe, expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";
import { hiddenTexts, honestTexts } from "../testing/hidden-texts.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

async function textsOf(html: string): Promise<readonly [outline: string, markdown: string]> {
  await session.show(`<title>t</title>${html}`);
  const seen = await session.instance.call("POST", "/observe", JSON.stringify({ max_tokens: 50_000 }));
  const read = await session.instance.call("POST", "/read", JSON.stringify({ content: "all" }));
  return [
    (JSON.parse(seen.text) as { outline: string }).outline,
    (JSON.parse(read.text) as { markdown: string }).markdown,
  ];
}
describe("neither an outline nor a text has text that a person cannot see", () => {
  it.each(hiddenTexts)("%s: %s", async (_kind, html) => {
    const texts = await textsOf(html);
    for (const text of texts) expect(text).toContain("Shown");
    for (const text of texts) expect(text).not.toContain("MEASURE");
  });
});
describe("both have what a person sees, or reaches by scrolling or closing", () => {
  it.each(honestTexts)("%s: %s", async (_kind, html) => {
    for (const text of await textsOf(html)) expect(text).toContain("MEASURE");
  });
});
