import { describe, expect, it } from "vitest";
import { cleanText, readSearchAnswer, type SearchAnswerForm } from "./search-answer.ts";

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
}
const readAll = (answer: unknown, form: SearchAnswerForm = "searxng", withRaw = false) =>
  readSearchAnswer(chunks(typeof answer === "string" ? answer : JSON.stringify(answer)), { form, withRaw });
const read = async (...answer: Parameters<typeof readAll>) => (await readAll(...answer)).results;

describe("an answer of a provider", () => {
  it("has results without markup, and without other fields", async () => {
    const results = [
      {
        url: "https://a.example/x",
        title: "<b>Fish</b> &amp; chips",
        content: "Line\u0000 one\n two &#x27;quoted&#39;",
        engine: "duckduckgo",
        publishedDate: "2026-01-31T00:00:00",
        score: 3,
      },
    ];
    expect(await read({ results })).toEqual([
      {
        url: "https://a.example/x",
        title: "Fish & chips",
        snippet: "Line\uFFFD one two 'quoted'",
        source: "duckduckgo",
        published_date: "2026-01-31T00:00:00",
      },
    ]);
    const web = {
      results: [
        {
          url: "https://b.example/",
          title: "B",
          description: "<strong>b</strong>",
          page_age: "2026-02-01",
          profile: { name: "B site" },
          extra_snippets: ["one", "<i>two</i>", 3, ""],
        },
      ],
    };
    expect(await read({ web }, "brave")).toEqual([
      {
        ...{ url: "https://b.example/", title: "B", snippet: "b", published_date: "2026-02-01", source: "B site" },
        additional_snippets: ["one", "two"],
      },
    ]);
    expect(await read({ type: "search" }, "brave")).toEqual([]);
  });

  it("has no addresses of other schemes, credentials or too many characters", async () => {
    const urls = [
      "javascript:alert(1)",
      "file:///etc/passwd",
      "data:text/html,x",
      "not an address",
      `https://a.example/${"x".repeat(3_000)}`,
      7,
      "https://me:secret@b.example/",
    ];
    const found = await read({ results: [...urls.map((url) => ({ url })), null, "x", []] });
    expect(found).toEqual([{ url: "https://b.example/" }]);
    // The size of the page, which shows whether there is another one.
    expect(await readAll({ results: [null, { url: "file:///x" }] })).toEqual({ results: [], entries: 2 });
  });

  it("is bounded in bytes, results and characters", async () => {
    const long = { url: "https://a.example/", title: "t".repeat(9_999), content: "c".repeat(99_999), engine: {} };
    const [result] = await read({ results: [long] }, "searxng", true);
    expect(result?.title).toHaveLength(500);
    expect(result?.snippet).toHaveLength(2_000);
    expect(result?.raw).toHaveLength(8_000);
    const many = Array.from({ length: 500 }, (_, index) => ({ url: `https://a.example/${String(index)}` }));
    expect(await read({ results: many })).toHaveLength(100);
    await expect(read(`{"results":[${"[],".repeat(100_000)}[]]}`)).rejects.toThrow("too many values");
    await expect(read({ results: [], padding: "x".repeat(5 * 2 ** 20) })).rejects.toThrow("more than 4194304 bytes");
  });

  it.each([["[]"], ["<html>"], ["null"], ['{"results":{}}'], [""]])("is refused if it is %s", async (answer) => {
    await expect(read(answer)).rejects.toThrow(/^The answer /);
  });
});

it("cleans texts of escaped markup and of characters that hide or reorder text", () => {
  expect(cleanText("&lt;script&gt;alert(1)&lt;/script&gt;x", 100)).toBe("alert(1)x");
  expect(cleanText("&l\u{200B}t;img src=x&g\u{2060}t;x", 100)).toBe("x");
  expect(cleanText("<i&#8203;mg src=x>x", 100)).toBe("x");
  expect(cleanText("a\u202Eb\u200B\u{E0041}c\u0007d", 100)).toBe("abc d");
  expect(cleanText("1 < 2 &unknown; &#0; &#x110000;", 100)).toBe("1 < 2 &unknown;");
  expect(cleanText("a\uFE0F\u115F\u3164\u034Fb", 100)).toBe("ab");
  expect(cleanText("\uD83D", 100)).toBe("\uFFFD");
  expect(cleanText("<b></b>", 100)).toBeUndefined();
  expect(cleanText(["x"], 100)).toBeUndefined();
});

it.each([
  ["<<b>img src=x onerror=alert(1)>", undefined],
  ["<\u200Bimg src=x onerror=alert(1)>", undefined],
  ["<\uFE0Fimg src=x onerror=alert(1)>", undefined],
  ["fish <img src=x onerror=alert(1) ", "fish < img src=x onerror=alert(1)"],
  ["<<", "<<"],
  ["&l&#8203;t;img src=x&g&#8203;t;x", "x"],
  ["&l<b>t;img src=x&g<b>t;x", "x"],
  ["&amp;lt;img src=x>x", "x"],
  ["&#0000060;img src=x&#x000003E;x", "x"],
  [`&${"amp;".repeat(20)}lt;img src=x>x`, `& ${"amp;".repeat(12)}lt;img src=x>x`],
  ["x<y & y>z", "xz"],
])("makes a text without a tag of %s", (text, expected) => {
  expect(cleanText(text, 100)).toBe(expected);
});

it("makes a text without a tag of deeply nested ones", () => {
  const nested = `${"<".repeat(1_000)}b${">b".repeat(1_000)}`;
  expect(cleanText(nested, 2_000)).not.toMatch(/<[a-z/!?]/i);
});
