import { describe, expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";
import { drawnCases } from "../testing/drawn-cases.ts";
import { partCases } from "../testing/part-cases.ts";
import { pressCases } from "../testing/press-cases.ts";
import { cases } from "../testing/seen-cases.ts";
import { clicks } from "../testing/seen-clicks.ts";
import { texts } from "../testing/seen-texts.ts";
import { wordCases } from "../testing/word-cases.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

async function outlineOf(html: string, script = ""): Promise<string[]> {
  await session.show(`<title>t</title>${html}`);
  if (script !== "") await session.evaluate(script);
  const { text } = await session.instance.call("POST", "/observe", JSON.stringify({ max_tokens: 50_000 }));
  const { outline } = JSON.parse(text) as { outline: string };
  return outline.replaceAll(/\[e\d+\]/g, "[e]").split("\n");
}

describe("an outline has what a person sees or reaches", () => {
  it.each([...cases, ...drawnCases, ...partCases, ...pressCases, ...wordCases])(
    "$kind: $html",
    async ({ html, lines, script }) => {
      expect(await outlineOf(html, script)).toEqual(lines);
    },
  );

  it("and the words of options, not the marks of the browser, while a list is open", async () => {
    await session.show(
      `<style>select,::picker(select){appearance:base-select}</style><select aria-label=Pet><button><selectedcontent></selectedcontent></button><option>Cat<option>Dog</select>`,
    );
    await session.done({ type: "click", role: "combobox", name: "Pet" });
    const { text } = await session.instance.call("POST", "/observe", "{}");
    expect((JSON.parse(text) as { outline: string }).outline).toContain(`= "Cat" options "Cat", "Dog"`);
  });

  it.each(clicks)("and a click reaches it: %s %s", async (role, name, html, script = "") => {
    await session.show(`<title>t</title>${html}`);
    if (script !== "") await session.evaluate(script);
    await session.done({ type: "click", role, name, timeout_ms: 3_000 });
    expect(await session.evaluate("document.title")).toBe("clicked");
  });
});

describe("a text", () => {
  it.each(texts)("%s: %s", async (_kind, html, expected) => {
    await session.show(`<title>t</title>${html}`);
    const { text } = await session.instance.call("POST", "/read", JSON.stringify({ content: "all" }));
    expect((JSON.parse(text) as { markdown: string }).markdown.trim()).toBe(expected);
  });
});
