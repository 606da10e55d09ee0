import { eventually } from "@shoal/testkit";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";
import { type Har, problemsOfHar } from "./har-problems.ts";
import { phone, showIn, usePerson, violationsOf, widthOf } from "./open-console.ts";

const on = { enabled: true };
const test = useService();
const session = useSession(test, {
  name: "observed",
  tags: { team: "growth" },
  telemetry: { browser: { console: on, network: on, page: on, control: on, connection: on } },
});
const person = usePerson(test);
const open = (tab: string) => person.openSignedIn(`sessions/${session.id}?tab=${tab}`);

const visited = `await page.goto("data:text/html,<title>Shop</title>Hello");
await page.evaluate(async () => {
  console.log("stock", 42);
  console.error("broken");
  await fetch("data:application/json,[]");
  await fetch("http://127.0.0.1:1/refused").catch(() => undefined);
});`;

it("shows the console and the requests of pages", async () => {
  await test.shoal.browsers.playwright.execute(session.id, { code: visited });
  const { page, problems } = await open("console");
  const lines = page.getByRole("log");
  await lines.getByText("stock 42").waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.getByLabel("Level").selectOption("error");
  await lines.getByText("stock 42").waitFor({ state: "hidden" });
  await lines.getByText("broken").waitFor();
  await page.getByLabel("Level").selectOption("");
  await page.getByRole("textbox", { name: "Find in the console" }).fill("STOCK");
  await page.getByText(/^1 of \d+ lines$/).waitFor();
  await page.reload();
  await lines.getByText("stock 42").waitFor();
  expect(await lines.getByText("broken").count()).toBe(0);
  await page.getByRole("textbox", { name: "Find in the console" }).fill("never written");
  await page.getByText("Nothing matches.").waitFor();
  await page.getByRole("textbox", { name: "Find in the console" }).fill("");
  await page.getByRole("tab", { name: "Network" }).click();
  await page.getByRole("button", { name: /data:text\/html/ }).click();
  await page.getByRole("dialog").getByText("data:text/html,<title>Shop</title>Hello").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Find by address, method or status" }).fill("refused");
  await page.getByText("1 of 3 requests").waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("find")).toBe("refused");
  await page.getByRole("button", { name: /failed GET http:\/\/127.0.0.1:1\/refused/ }).waitFor();
  await page.getByRole("textbox", { name: "Find by address, method or status" }).fill("");
  await page.getByLabel("Outcome").selectOption("Answered");
  await page.getByText("2 of 3 requests").waitFor();
  await page.getByLabel("Outcome").selectOption("All outcomes");
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as HAR" }).click();
  const saved = await saving;
  expect(saved.suggestedFilename()).toBe("observed.har");
  const har = JSON.parse(await readFile(await saved.path(), "utf8")) as Har;
  expect(problemsOfHar(har)).toEqual([]);
  expect(har.log.entries.map(({ request, response }) => [request.method, response.status])).toContainEqual(["GET", 0]);
  expect(har.log.pages[0]?.pageTimings.onLoad).toBeGreaterThanOrEqual(0);
  await page.getByRole("tab", { name: "Events" }).click();
  await page.getByRole("log").getByText("page navigation").first().waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});

it("uploads dropped files, shows them as text, and follows changes of the directory", async () => {
  const { page, problems } = await open("files");
  const area = page.getByTestId("drop-area");
  await area.waitFor();
  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["<script>alert(1)</script>"], "note.html", { type: "text/html" }));
    return transfer;
  });
  await area.dispatchEvent("drop", { dataTransfer: dropped });
  await page.getByRole("button", { name: "note.html", exact: true }).click();
  await page.getByLabel("Content of note.html").getByText("<script>alert(1)</script>").waitFor();
  await page.keyboard.press("Escape");
  await session.fs.writeFile(session.id, Buffer.from("1"), { path: "/home/shoal/by-a-program.txt" });
  await page.getByRole("button", { name: "by-a-program.txt", exact: true }).waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download note.html" }).click();
  expect((await downloading).suggestedFilename()).toBe("note.html");
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});

it("saves large files and directories to the disk without reading them into the page", async () => {
  const name = `<b>"größe".html`;
  const { stdout } = await test.shoal.browsers.process.run(session.id, {
    command: "sh",
    args: [
      "-c",
      `mkdir -p /home/shoal/large/inner && cd /home/shoal/large && mkfifo pipe && head -c 50000000 /dev/urandom > "$1" && sha256sum < "$1"`,
      "sh",
      name,
    ],
  });
  const { page, problems } = await person.openSignedIn(`sessions/${session.id}?tab=files&path=/home/shoal/large`);
  const read: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/fs/") && ["fetch", "xhr"].includes(request.resourceType()))
      read.push(`${request.method()} ${new URL(request.url()).pathname.split("/").at(-1) ?? ""}`);
  });
  const save = async (label: string) => {
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: `Download ${label}`, exact: true }).click();
    return downloading;
  };
  const saved = await save(name);
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(await saved.path())) hash.update(chunk as Buffer);
  expect(hash.digest("hex")).toBe(stdout.split(" ", 1)[0]);
  expect(saved.suggestedFilename()).toMatch(/größe.*\.html$/);
  await page.getByRole("button", { name: "Download pipe" }).click();
  await page.getByRole("alert").filter({ hasText: "Request failed" }).getByText(/pipe/).waitFor();
  const archive = await save("inner");
  expect(archive.suggestedFilename()).toBe("inner.zip");
  expect((await readFile(await archive.path())).subarray(0, 2).toString()).toBe("PK");
  expect(read.filter((request) => /^GET (?:read_file|download_dir_zip)/.test(request))).toEqual(["GET read_file"]);
  expect(problems.filter((problem) => !problem.includes("status of 4"))).toEqual([]);
  await page.close();
});

it("opens a terminal in the session", async () => {
  const { page, problems } = await open("terminal");
  await page.getByText("A shell in the session").waitFor();
  await page.keyboard.type("echo $((6*7)) > /tmp/typed\n");
  const typed = async () => {
    const { stdout } = await test.shoal.browsers.process.run(session.id, { command: "cat", args: ["/tmp/typed"] });
    return stdout;
  };
  await expect.poll(typed).toBe("42\n");
  await page.keyboard.type("exit\n");
  await page.getByRole("button", { name: "New shell" }).waitFor();
  expect(problems).toEqual([]);
  await page.close();
});

it("takes a screenshot, and plays a recording", async () => {
  const { page, problems } = await open("recordings");
  await page.getByText("Nothing was recorded").waitFor();
  await page.getByRole("button", { name: "Screenshot" }).click();
  const picture = page.getByRole("img", { name: /front page of session observed/ });
  await picture.waitFor();
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(100);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Record" }).click();
  await page.getByRole("button", { name: "Stop recording" }).click();
  await page.getByRole("link", { name: "Play" }).click();
  await page.getByRole("heading", { name: /^Recording of / }).waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});

it.each(["", "sessions", "sessions/ID", "sessions/ID?tab=files", "sessions/ID?tab=details", "sessions/ID?tab=logs"])(
  "shows /%s on a phone without sideways scrolling, usable with assistive technology, in light and dark",
  async (path) => {
    const { page, problems } = await person.openSignedIn(path.replace("ID", session.id), {
      colorScheme: "light",
      viewport: phone,
    });
    await page.locator("#page-title").waitFor();
    await page.getByRole("button", { name: "Open the menu" }).click();
    await page.getByRole("link", { name: "Sessions", exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Close the menu" }).click();
    await expect.poll(() => widthOf(page)).toBe(phone.width);
    await expect.poll(() => violationsOf(page)).toEqual([]);
    await showIn(page, "dark");
    await expect.poll(() => violationsOf(page), { message: "in dark" }).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  },
);

it("is used with the keyboard", async () => {
  const { page } = await person.openSignedIn();
  await page.locator("#page-title").waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.id ?? "");
  // The page shows its title before it listens for keys.
  await eventually("the sessions are open", async () => {
    await page.keyboard.press("2");
    return page.getByRole("heading", { name: "Sessions" }).isVisible();
  });
  await expect.poll(focused).toBe("page-title");
  await page.getByRole("textbox", { name: /^Search/ }).waitFor();
  await page.keyboard.press("/");
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toMatch(/^Search/);
  await page.keyboard.press("Escape");
  await page.locator("#page-title").focus();
  await page.keyboard.press("Shift+?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.close();
});

it("reports a session that does not exist", async () => {
  const { page } = await person.openSignedIn("sessions/missing");
  const alert = page.getByRole("alert");
  await alert.getByText("Not found", { exact: true }).waitFor();
  expect(await alert.innerText()).not.toContain("browsers.list");
  await alert.getByRole("link", { name: "Sessions" }).click();
  await page.getByRole("heading", { name: "Sessions" }).waitFor();
  await page.close();
});
