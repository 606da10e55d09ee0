import { beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

const take = `async function take(event, files) {
  event.preventDefault();
  document.title = (await Promise.all([...files].map(async (file) => file.name + " " + file.type + " " + await file.text()))).join();
}`;
const zone = `<div id=zone role=button tabindex=0 style="width:300px;height:100px">Drop here</div><script>${take}
  zone.ondragover = (event) => event.preventDefault(); zone.ondrop = (event) => take(event, event.dataTransfer.files);</script>`;

beforeAll(async () => {
  for (const [path, text] of [
    ["a.txt", "hello"],
    ["b.png", "picture"],
    ["dir/c.txt", "c"],
    ["dir/sub/d.txt", "d"],
  ] as const)
    await session.instance.call("PUT", `/fs/write_file?path=/home/shoal/${path}`, text);
});

const home = (name: string): string => `/home/shoal/${name}`;
const titled = (title: string) =>
  expect.poll(() => session.evaluate("document.title + ' ' + (frames[0]?.document.title ?? '')")).toContain(title);

describe("files for pages without a file field", () => {
  it.each([
    ["a drop zone", zone, "#zone", ["a.txt"], "a.txt text/plain hello"],
    ["several files", zone, "#zone", ["a.txt", "b.png"], "a.txt text/plain hello,b.png image/png picture"],
    ["a frame", `<p>x</p><iframe srcdoc="${zone.replaceAll('"', "&quot;")}"></iframe>`, "#zone", ["a.txt"], "hello"],
    [
      "a shadow root",
      `<p id=host></p><script>${take} const root = host.attachShadow({ mode: "open" });
      root.innerHTML = "<div id=zone style='height:90px'>Drop</div>"; root.firstChild.ondragover = (event) => event.preventDefault();
      root.firstChild.ondrop = (event) => take(event, event.dataTransfer.files);</script>`,
      "#zone",
      ["a.txt"],
      "a.txt text/plain hello",
    ],
    [
      "a paste into an editor",
      `<div id=box contenteditable>x</div><script>${take} box.onpaste = (event) => take(event, event.clipboardData.files);</script>`,
      "#box",
      ["b.png"],
      "b.png image/png picture",
    ],
    [
      "a paste into a text field",
      `<textarea id=box></textarea><script>${take} document.onpaste = (event) => take(event, event.clipboardData.files);</script>`,
      "#box",
      ["b.png", "a.txt"],
      "b.png image/png picture,a.txt text/plain hello",
    ],
    [
      "a field that takes drops only",
      `<textarea id=box></textarea><script>${take} box.ondragover = (event) => event.preventDefault(); box.ondrop = (event) => take(event, event.dataTransfer.files);</script>`,
      "#box",
      ["a.txt"],
      "a.txt text/plain hello",
    ],
  ])("reach %s", async (...[, html, selector, names, title]) => {
    await session.show(html);
    await session.done({ type: "upload", selector, paths: names.map(home) });
    await titled(title);
  });

  it("are refused where the page does not take them", async () => {
    await session.show(`<button id=b>Nothing</button><textarea id=t></textarea>`);
    for (const [selector, problem] of [
      ["#b", "takes no dropped files"],
      ["#t", "takes neither pasted nor dropped files"],
    ] as const) {
      const refused = await session.act({ type: "upload", selector, paths: [home("a.txt")] });
      expect(refused).toMatchObject({ status: 409, code: "not_actionable" });
      expect(refused.message).toContain(problem);
    }
    expect(await session.evaluate("b.textContent")).toBe("Nothing");
  });
});

describe("a folder field", () => {
  const field = `<input type=file webkitdirectory id=f style="display:none"><button id=b onclick="f.click()">Choose</button><script>
    f.onchange = () => { document.title = [...f.files].map((file) => file.webkitRelativePath).sort().join(); };</script>`;

  it.each(["#f", "#b"])("takes a folder: %s", async (selector) => {
    await session.show(field);
    await session.done({ type: "upload", selector, paths: [home("dir")] });
    await titled("dir/c.txt,dir/sub/d.txt");
  });

  it("refuses files, several folders and links that leave the session", async () => {
    await session.show(`${field}<input type=file id=one>`);
    expect(await session.act({ type: "upload", selector: "#f", paths: [home("a.txt")] })).toMatchObject({
      status: 400,
      message: expect.stringContaining("the field takes a folder") as unknown,
    });
    expect(await session.act({ type: "upload", selector: "#f", paths: [home("dir"), home("dir/sub")] })).toMatchObject({
      status: 400,
      message: expect.stringContaining("one folder") as unknown,
    });
    expect(await session.act({ type: "upload", selector: "#one", paths: [home("dir")] })).toMatchObject({
      status: 400,
      code: "not_a_file",
    });
  });
});
