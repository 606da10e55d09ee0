import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";
import { encrypted, pdfFile } from "../testing/pdf-files.ts";

describe.each(["headless_shell", "chrome"] as const)("a PDF in %s", (kind) => {
  const session = new ActingSession({ kind, executable: findChromium(kind) ?? "missing" });

  const call = async (path: string, body: object) => {
    const { status, text } = await session.instance.call("POST", path, JSON.stringify(body));
    return { status, body: JSON.parse(text) as Record<string, string> };
  };
  const read = async (body = {}) => (await call("/read", { max_tokens: 100_000, ...body })).body;

  function serve(path: string, bytes: Buffer): string {
    session.handle(path, (_request, response) => {
      response.writeHead(200, { "content-type": "application/pdf" }).end(bytes);
    });
    return session.url(path);
  }
  async function show(path: string, bytes: Buffer): Promise<string> {
    const url = serve(path, bytes);
    await session.done({ type: "navigate", url });
    return url;
  }
  async function printed(path: string, html: string): Promise<void> {
    await session.show(html);
    const { promise, reject, resolve } = Promise.withResolvers<IncomingMessage>();
    const headers = { "content-type": "application/json" };
    const { listen_path: socketPath } = session.instance.config;
    request({ socketPath, method: "POST", path: "/pdf", headers }, resolve).on("error", reject).end("{}");
    await show(path, await buffer(await promise));
  }

  it("is text by pages, and an outline says how many", async () => {
    const url = await show("/invoice.pdf", pdfFile(["Invoice 4711", "Total 12 EUR"]));
    const expected = { url, title: "invoice.pdf" };
    expect(await read()).toMatchObject({
      ...expected,
      markdown: "*PDF with 2 pages.*\n\n## Page 1\n\nInvoice 4711\n\n## Page 2\n\nTotal 12 EUR\n",
    });
    const observed = await call("/observe", {});
    expect(observed.body).toMatchObject({ ...expected, outline: "(a PDF with 2 pages: read returns its text)" });
  });

  it("is requested with the cookies of the session", async () => {
    session.handle("/own.pdf", (request, response) => {
      const who = request.headers.cookie ?? "no cookie";
      response.writeHead(200, { "content-type": "application/pdf" }).end(pdfFile([who]));
    });
    await session.show("<script>document.cookie = 'user=ada'</script>");
    await session.done({ type: "navigate", url: session.url("/own.pdf") });
    expect((await read()).markdown).toContain("user=ada");
  });

  it("in a frame or an embed is read by the selector of its element", async () => {
    serve("/part.pdf", pdfFile(["Inner text"]));
    await session.show(`<h1>Page</h1><iframe src="/part.pdf"></iframe><embed src="/part.pdf" type="application/pdf">`);
    for (const selector of ["iframe", "embed"]) expect((await read({ selector })).markdown).toContain("Inner text");
    expect((await read()).markdown).toContain("# Page");
    const { outline } = (await call("/observe", {})).body;
    expect(outline?.match(/\(PDF: read takes its ref or selector\)/g)).toHaveLength(2);
  });

  it.each(["inline", "attachment"])(
    "that a page opens in a new tab, served as %s, is read there or named",
    async (way) => {
      session.handle("/opened.pdf", (_request, response) => {
        const headers = { "content-type": "application/pdf", "content-disposition": `${way}; filename=opened.pdf` };
        response.writeHead(200, headers).end(pdfFile(["Opened text"]));
      });
      await session.show(`<h1>Page</h1><button onclick="window.open('/opened.pdf')">Open</button>`);
      const { downloads, new_tabs } = await session.done({ type: "click", role: "button", name: "Open" });
      if (new_tabs.length > 0) expect((await read()).markdown).toContain("Opened text");
      else expect(downloads).toEqual(["opened.pdf"]);
      for (const { id } of new_tabs) await session.done({ type: "close_tab", tab: id });
    },
  );

  it.runIf(kind === "headless_shell")(
    "has columns after each other, whole letters, and text from right to left in its order",
    async () => {
      await printed(
        "/columns.pdf",
        `<meta charset=utf-8><div style="columns:2;font:16px serif"><p>Left one office</p><p>Left two</p><p>Right one</p><p>Right two</p></div><p dir=rtl>שלום עולם</p>`,
      );
      const { markdown } = await read();
      expect(markdown?.replaceAll(/\s+/g, " ")).toMatch(/Left one office.*Left two.*Right one.*Right two/);
      expect(markdown).toContain("שלום עולם");
    },
  );

  it("of 500 pages is read in parts", async () => {
    await show("/long.pdf", pdfFile(Array.from({ length: 500 }, (_, page) => `Text of page ${String(page + 1)}`)));
    const first = await read({ max_tokens: 1_000 });
    expect(first.markdown).toContain("PDF with 500 pages");
    expect(first.next_offset).toBeTypeOf("number");
    expect((await read()).markdown).toContain("Text of page 500");
  });

  it.each([
    ["without text", pdfFile(["", ""]), "No page has text: they may be scans"],
    ["with a password", pdfFile(["secret"], encrypted), "it is encrypted and needs a password"],
    ["that is broken", Buffer.from("%PDF-1.7\nnothing"), "the file is broken"],
  ])("%s says so", async (name, bytes, message) => {
    await show(`/${name.replaceAll(" ", "-")}.pdf`, bytes);
    expect((await read()).markdown).toContain(message);
  });

  it("is no longer read after the next navigation", async () => {
    await show("/before.pdf", pdfFile(["Before"]));
    await session.show("<p>After</p>");
    expect((await read()).markdown).toContain("After");
  });
});
