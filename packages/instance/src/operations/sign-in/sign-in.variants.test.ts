import { eventuallyPasses } from "@shoal/testkit";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OutlineNode, PageActResult, PageOutline, SettledPage } from "../../index.ts";
import { describeChromium } from "../../testing/chromium.ts";
import { runInstance, type RunningInstance } from "../../testing/run-instance.ts";
import { followTelemetry } from "../telemetry/testing/follow.ts";

const secret = "canary-3f9c";

const pages: Readonly<Record<string, string>> = {
  "/form": `<title>Sign in</title><h1>Welcome back</h1>
    <form action="/submitted" method=post>
      <label for=u>User name</label><input id=u name=user autocomplete=username value=bobby-7>
      <label>Password <input id=pw type=password name=pw value="${secret}"></label>
      <input style="display:none" name=not_shown><input style="opacity:0" name=transparent>
      <input style="position:absolute;left:-5000px" name=off_screen>
      <div aria-hidden=true><input name=aria_hidden></div>
      <div style="height:0;overflow:hidden"><input name=clipped></div>
      <input type=checkbox id=stay style="opacity:0"><label for=stay>Stay signed in</label>
      <select name=country><option value=de>Germany<option value=fr selected>France</select>
      <button>Log in</button><button disabled>Wait</button>
    </form>
    <div style="position:relative"><input name=covered><div style="position:absolute;inset:0;background:#fff"></div></div>
    <p>Forgot your <b>password</b>?</p><div role=alert>Try again</div>
    <iframe srcdoc="<input placeholder='In a frame'>"></iframe>
    <div id=host></div><script>host.attachShadow({ mode: "closed" }).innerHTML = "<input placeholder='In a shadow root'>"</script>`,
  "/scrolled": `<div style="height:3000px"></div><input name=free><div style="position:relative"><input name=covered>
    <div style="position:absolute;inset:0;background:#fff"></div></div><script>scrollTo(0, 3000)</script>`,
  "/submitted": `<p>Signed in</p>`,
  "/passkey": `<button onclick="navigator.credentials.get({ publicKey: { challenge: new Uint8Array(16) } }).catch((error) => { out.textContent = error.name; })">Passkey</button><p id=out></p>`,
  "/replaces": `<div id=place></div><script>
    const render = () => { place.innerHTML = "<input name=late>"; place.firstChild.addEventListener("focus", () => { if (!window.once) { window.once = 1; render(); } }); };
    render();</script>`,
  "/dialog": `<button onclick="alert('Wrong password'); fetch('/denied')">Go</button>`,
  "/repeats": `<form><input type=password name=pw><input name=other><button>Log in</button></form><script>
    pw = document.querySelector("[name=pw]");
    const repeat = (value) => {
      console.log("typed", value, { value });
      console.error(new Error(value));
      document.title = value;
      fetch("/echo?q=" + value, { method: "POST", body: value, headers: { "x-pw": value, authorization: "Basic " + btoa(value) } });
      history.replaceState(0, "", "/repeats/" + value + "?q=" + value + "#" + value);
      setTimeout(() => { throw value; });
    };
    pw.oninput = () => repeat(pw.value);
    pw.form.onsubmit = (event) => { event.preventDefault(); repeat(pw.value); };</script>`,
  "/late": `<button>Continue</button><script>onclick = () => {
    const endMs = performance.now() + 500;
    while (performance.now() < endMs);
    setTimeout(() => { location = "/submitted"; });
  };</script>`,
  "/popups": `<title>Popups</title><script>
    let left = 12;
    const timer = setInterval(() => {
      if (left-- === 0) { clearInterval(timer); document.title = "All closed"; return; }
      const popup = open("");
      setTimeout(() => popup.close(), 40);
    }, 120);</script>`,
  "/thief": `<input id=i><input id=other><script>
    const tell = (text) => parent.postMessage(text, "*");
    for (const type of ["keydown", "beforeinput", "mousedown"]) addEventListener(type, () => tell(type), true);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { other.focus(); i.focus(); setTimeout(() => port2.postMessage(0)); };
    port2.postMessage(0);</script>`,
  "/many": `<script>document.write("<p>word</p>".repeat(4000) + "<input type=password>")</script>`,
};

let site: Server;
let port: number;
const bodies: string[] = [];
beforeAll(async () => {
  site = createServer((request, response) => {
    const path = request.url ?? "";
    request.setEncoding("utf8").on("data", (body: string) => bodies.push(body));
    if (path === "/denied") response.writeHead(401).end();
    else if (path === "/basic" && request.headers.authorization !== `Basic ${btoa("bob:pw")}`)
      response.writeHead(401, { "www-authenticate": 'Basic realm="Staff"' }).end("Denied");
    else if (path === "/basic") response.end("Signed in");
    else if (path.startsWith("/echo"))
      response
        .writeHead(200, path, { "content-type": "text/html", "x-echo": path })
        .end(`<title>${path}</title>${path}`);
    else if (path === "/outer")
      response
        .setHeader("content-type", "text/html")
        .end(`<p>Outer</p><iframe src="http://localhost:${String(port)}/form" width=900 height=600></iframe>`);
    else if (path.startsWith("/stolen-")) {
      const [, , host = ""] = path.split("-");
      response.setHeader("content-type", "text/html").end(`<!doctype html><form action="/submitted" method=post>
        <input name=user><input type=password name=pw><input name=stolen type=hidden><button>Log in</button></form>
        <iframe src="http://${host}:${String(port)}/thief" style="position:absolute;top:0;left:0;width:600px;opacity:.01;visibility:hidden"></iframe>
        <script>onmessage = ({ data }) => { document.forms[0].stolen.value += data; };
        const { style } = document.querySelector("iframe");
        setInterval(() => { style.visibility = style.visibility === "" ? "hidden" : ""; }, 30);</script>`);
    } else if (pages[path.replace(/[?].*/, "")] === undefined) response.writeHead(404).end();
    else
      response
        .writeHead(200, { "content-type": "text/html", "set-cookie": `visit=${path.slice(1)}; HttpOnly` })
        .end(`<!doctype html>${pages[path.replace(/[?].*/, "")] ?? ""}`);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  ({ port } = site.address() as AddressInfo);
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

describeChromium("the front page", (chromium) => {
  let instance: RunningInstance;
  beforeAll(async () => {
    instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 600 });
  });
  afterAll(async () => {
    await instance[Symbol.asyncDispose]();
  });

  async function call<T>(path: string, body?: object): Promise<T> {
    const answer = await instance.call("POST", `/_instance/page/${path}`, body && JSON.stringify(body));
    if (answer.status >= 300) throw new Error(`${path}: ${String(answer.status)} ${answer.text}`);
    return (answer.text === "" ? undefined : JSON.parse(answer.text)) as T;
  }
  const act = (body: object) => call<PageActResult>("act", body);
  /** Waits on when a slow machine has not finished its work in the longest time of a call. */
  async function settle(): Promise<SettledPage> {
    for (;;) {
      const settled = await call<SettledPage>("settle", { quiet_ms: 300, timeout_ms: 8_000 });
      if (settled.quiet) return settled;
    }
  }
  const outline = () => call<PageOutline>("outline");
  async function visit(path: string): Promise<PageOutline> {
    const url = `http://127.0.0.1:${String(port)}${path}`;
    expect(await act({ kind: "goto", url, hosts: ["127.0.0.1"] })).toEqual({ outcome: "done" });
    expect(await settle()).toMatchObject({ quiet: true, url });
    return outline();
  }
  function named(read: PageOutline, fits: (node: OutlineNode) => boolean): OutlineNode {
    const found = read.nodes.find(fits);
    if (found === undefined) throw new Error(`Not in ${JSON.stringify(read.nodes)}`);
    return found;
  }

  it("lists fields, buttons and texts with their frames, and says which a person cannot see", async () => {
    const read = await visit("/form");
    const fields = Object.fromEntries(
      read.nodes
        .filter(({ role }) => role === "textbox" || role === "checkbox")
        .map(({ attributes, hidden, name }) => [attributes.name ?? name, hidden ?? "visible"]),
    );
    expect(fields).toEqual({
      user: "visible",
      pw: "visible",
      not_shown: "not_shown",
      transparent: "transparent",
      off_screen: "off_screen",
      aria_hidden: "aria_hidden",
      clipped: "off_screen",
      "Stay signed in": "visible",
      covered: "covered",
      "In a frame": "visible",
      "In a shadow root": "visible",
    });
    expect(named(read, ({ name, role }) => role === "textbox" && name === "User name")).toMatchObject({
      tag: "input",
      attributes: { id: "u", autocomplete: "username" },
      states: ["filled"],
      frame: 0,
    });
    const form = read.nodes.findIndex(({ role }) => role === "form");
    expect(named(read, ({ name }) => name === "Log in")).toMatchObject({ role: "button", parent: form });
    expect(named(read, ({ name }) => name === "Wait").states).toContain("disabled");
    expect(named(read, ({ role }) => role === "combobox").options).toEqual(["Germany", "France"]);
    expect(read.nodes.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["Welcome back", "Forgot your password?", "Try again"]),
    );
    expect(read.frames).toMatchObject([
      { host: "127.0.0.1", title: "Sign in" },
      { parent: 0, host: "127.0.0.1" },
    ]);
    expect(read.left_out).toBe(0);
    expect(JSON.stringify(read)).not.toContain(secret);
    expect(JSON.stringify(read)).not.toContain("bobby-7");
  });

  it("fills, selects, checks and clicks with real events, and reports what followed", async () => {
    const read = await visit("/form");
    const ref = (name: string) => named(read, (node) => node.name === name && node.role !== "text").ref;
    const hosts = ["127.0.0.1"];
    const password = named(read, ({ attributes }) => attributes.name === "pw").ref;
    expect(await act({ kind: "fill", ref: ref("User name"), value: "alice", hosts })).toEqual({ outcome: "done" });
    expect(await act({ kind: "fill", ref: password, value: "p w&1", hosts })).toEqual({ outcome: "done" });
    expect(await act({ kind: "fill", ref: password, value: "stolen", hosts: ["example.com"] })).toEqual({
      outcome: "refused_host",
      detail: "127.0.0.1",
    });
    expect(await act({ kind: "check", ref: ref("Stay signed in"), checked: true })).toEqual({ outcome: "done" });
    const select = named(read, ({ role }) => role === "combobox").ref;
    expect(await act({ kind: "select", ref: select, option: "Germany" })).toEqual({ outcome: "done" });
    expect(await act({ kind: "select", ref: select, option: "Spain" })).toEqual({ outcome: "unusable" });
    const covered = named(read, ({ hidden }) => hidden === "covered").ref;
    expect(await act({ kind: "click", ref: covered })).toEqual({ outcome: "covered" });
    bodies.splice(0);
    expect(await act({ kind: "click", ref: ref("Log in") })).toEqual({ outcome: "done" });
    expect(await settle()).toMatchObject({
      quiet: true,
      status: 200,
      host: "127.0.0.1",
      navigations: [`http://127.0.0.1:${String(port)}/submitted`],
      requests: [{ method: "POST", path: "/submitted", status: 200 }],
      changed_cookies: [{ name: "visit", http_only: true }],
    });
    expect(bodies.join("")).toContain("user=alice&pw=p+w%261&");
    expect(bodies.join("")).toContain("country=de");
    expect(await act({ kind: "click", ref: ref("Log in") })).toEqual({ outcome: "replaced" });
    expect(instance.stderr()).not.toContain("p w&1");
  });

  it("finds covered fields on a scrolled page", async () => {
    const read = await visit("/scrolled");
    const field = (name: string) => named(read, ({ attributes }) => attributes.name === name);
    expect(field("free").hidden).toBeUndefined();
    expect(field("covered").hidden).toBe("covered");
    expect(await act({ kind: "click", ref: field("free").ref })).toEqual({ outcome: "done" });
    expect(await act({ kind: "click", ref: field("covered").ref })).toEqual({ outcome: "covered" });
  });

  it("reads and fills frames of other sites", async () => {
    await visit("/outer");
    await eventuallyPasses(async () => {
      expect((await outline()).frames.map(({ host }) => host)).toEqual(["127.0.0.1", "localhost", "localhost"]);
    });
    const read = await outline();
    const field = named(read, ({ name, role }) => role === "textbox" && name === "User name");
    expect(read.frames[field.frame]).toMatchObject({ parent: 0, host: "localhost" });
    const fill = { kind: "fill", ref: field.ref, value: "alice" };
    expect(await act({ ...fill, hosts: ["127.0.0.1"] })).toMatchObject({ outcome: "refused_host" });
    expect(await act({ ...fill, hosts: ["localhost"] })).toEqual({ outcome: "done" });
    bodies.splice(0);
    await act({ kind: "click", ref: named(read, ({ name }) => name === "Log in").ref });
    expect(await settle()).toMatchObject({ quiet: true });
    expect(bodies.join("")).toContain("user=alice&");
  });

  it.each(["localhost", "127.0.0.1"])(
    "types and clicks in no frame that takes the focus or covers the form: %s",
    async (host) => {
      const hosts = ["127.0.0.1"];
      const read = await visit(`/stolen-from-${host}`);
      for (const [name, value] of [
        ["user", "ada"],
        ["pw", "lovelace"],
      ]) {
        const field = named(read, ({ attributes, frame }) => frame === 0 && attributes.name === name);
        expect(await act({ kind: "fill", ref: field.ref, value, hosts })).toEqual({ outcome: "done" });
      }
      bodies.splice(0);
      await eventuallyPasses(async () => {
        const button = named(await outline(), ({ name }) => name === "Log in");
        expect(await act({ kind: "click", ref: button.ref })).toEqual({ outcome: "done" });
      });
      expect(await settle()).toMatchObject({ navigations: [`http://127.0.0.1:${String(port)}/submitted`] });
      expect(bodies.join("")).toBe("user=ada&pw=lovelace&stolen=");
    },
  );

  it("settles after the effects of a click that takes longer than the quiet time", async () => {
    const { ref } = named(await visit("/late"), ({ name }) => name === "Continue");
    expect(await act({ kind: "click", ref })).toEqual({ outcome: "done" });
    expect(await settle()).toMatchObject({ navigations: [`http://127.0.0.1:${String(port)}/submitted`] });
  });

  it("fills closed shadow roots, and reports a field that the page replaces", async () => {
    const inShadow = named(await visit("/form"), ({ name }) => name === "In a shadow root");
    const hosts = ["*.0.0.1", "127.0.0.1"];
    expect(await act({ kind: "fill", ref: inShadow.ref, value: "x", hosts })).toEqual({ outcome: "done" });
    expect(named(await outline(), ({ ref }) => ref === inShadow.ref).states).toContain("filled");

    const late = named(await visit("/replaces"), ({ role }) => role === "textbox");
    expect(await act({ kind: "fill", ref: late.ref, value: "x", hosts })).toEqual({ outcome: "replaced" });
    const again = named(await outline(), ({ role }) => role === "textbox");
    expect(await act({ kind: "fill", ref: again.ref, value: "x", hosts })).toEqual({ outcome: "done" });
  });

  it("reads pages whose popups open and close", async () => {
    const url = `http://127.0.0.1:${String(port)}/popups`;
    await act({ kind: "goto", url, hosts: ["127.0.0.1"] });
    await eventuallyPasses(async () => {
      expect((await outline()).frames[0]?.title).toBe("All closed");
    });
    expect(await settle()).toMatchObject({ url });
  });

  it("answers dialogs and passkey calls, so that no page waits for them", async () => {
    await act({ kind: "click", ref: named(await visit("/dialog"), ({ name }) => name === "Go").ref });
    expect(await settle()).toMatchObject({
      quiet: true,
      dialogs: [{ type: "alert", message: "Wrong password" }],
      requests: [{ path: "/denied", status: 401 }],
    });
    await act({ kind: "click", ref: named(await visit("/passkey"), ({ name }) => name === "Passkey").ref });
    const settled = await settle();
    expect(settled).toMatchObject({ passkey_calls: [{ mediation: "optional" }] });
  });

  it("reports and answers HTTP authentication of allowed hosts", async () => {
    const url = `http://127.0.0.1:${String(port)}/basic`;
    await act({ kind: "goto", url, hosts: ["127.0.0.1"] });
    expect(await settle()).toMatchObject({ challenge: { host: "127.0.0.1", scheme: "basic", realm: "Staff" } });
    await act({ kind: "authenticate", username: "bob", password: "pw", hosts: ["example.com"] });
    expect(await settle()).toHaveProperty("challenge");
    await act({ kind: "authenticate", username: "bob", password: "pw", hosts: ["127.0.0.1"] });
    expect(await settle()).not.toHaveProperty("challenge");
    expect((await outline()).nodes.map(({ name }) => name)).toEqual(["Signed in"]);
  });

  it("limits outlines, keeps fields first, and counts what it left out", async () => {
    const read = await visit("/many");
    expect(read.nodes.length).toBeLessThanOrEqual(1_500);
    expect(read.left_out).toBeGreaterThan(2_000);
    expect(read.nodes.some(({ attributes }) => attributes.type === "password")).toBe(true);
  });

  it("keeps typed values out of telemetry, also if the site repeats them everywhere", async () => {
    const categories = ["network", "interaction", "console", "page", "screenshot", "control", "connection", "system"];
    await instance.call("POST", "/_instance/telemetry", JSON.stringify({ categories }));
    const followed = followTelemetry(instance);
    const typed = "typed-7c1e";
    const read = await visit("/repeats");
    const field = named(read, ({ attributes }) => attributes.name === "pw").ref;
    await act({ kind: "fill", ref: field, value: typed, hosts: ["127.0.0.1"] });
    await act({ kind: "click", ref: named(read, ({ name }) => name === "Log in").ref });
    expect(await settle()).toMatchObject({ quiet: true, url: expect.stringContaining(`/repeats/${typed}`) as unknown });
    // A person helps in a live view.
    await act({ kind: "click", ref: named(await outline(), ({ attributes }) => attributes.name === "other").ref });
    for (const key of ["7", "c", "1", "e", "Return"])
      expect(await instance.call("POST", "/computer/press_key", JSON.stringify({ keys: [key] }))).toMatchObject({
        status: 200,
      });
    await call("release");
    await visit("/repeats?after=the-release");

    await followed.wait("interaction_key", { key: "Enter" });
    await followed.wait("console_error");
    await followed.wait("page_navigation");
    await eventuallyPasses(() => {
      expect(followed.of("network_response").length).toBeGreaterThanOrEqual(4);
    });
    expect(followed.of("interaction_key").map(({ data }) => data?.key)).toEqual(["Enter"]);
    expect(followed.of("network_request").map(({ data }) => data?.url)).toContain(`http://127.0.0.1:${String(port)}/`);
    expect(JSON.stringify(followed.envelopes)).not.toMatch(/typed-7c1e|dHlwZWQtN2Mx/);
    expect(JSON.stringify(followed.envelopes)).not.toContain("the-release");
  });

  it("refuses invalid acts by field, and stops following after a release", async () => {
    const refused = await instance.call("POST", "/_instance/page/act", JSON.stringify({ kind: "click", ref: "x" }));
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("ref")]);
    await call("release");
    await visit("/submitted");
  });
});
