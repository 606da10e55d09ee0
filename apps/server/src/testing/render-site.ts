import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface RenderSite extends AsyncDisposable {
  readonly url: string;
  /** Paths with the headers of their requests, newest last. */
  readonly requests: { readonly path: string; readonly headers: IncomingMessage["headers"] }[];
}

const html = (body: string, head = ""): string =>
  `<!doctype html><html><head>${head}</head><body>${body}</body></html>`;

const pages: Readonly<Record<string, string>> = {
  "/page": html(
    `<main><h1 class=title data-kind="big">Fish &amp; chips</h1><p>Fresh every day, from the harbour to the table.</p>
     <a href="/other">Other</a> <a href="/other">Again</a> <a href="javascript:void 0">None</a></main>
     <script>document.body.append(Object.assign(document.createElement("p"), { id: "late", textContent: "by script" }))</script>`,
    "<title>Shop</title><link rel=icon href=data:,>",
  ),
  "/slow-part": html(
    `<p id=first>first</p><script>setTimeout(() => { document.body.insertAdjacentHTML("beforeend", "<p id=second>second part</p>") }, 300)</script>`,
  ),
  "/after-load": html(
    `<script>onload = () => fetch("/part").then((part) => part.text()).then((text) => document.body.append(text))</script>`,
  ),
  "/alerts": html(
    `<p id=done></p><script>alert("hello"); document.getElementById("done").textContent = String(confirm("sure?"))</script>`,
  ),
  "/to-file": html(
    `<script>location.href = "file:///etc/passwd"</script><iframe src="file:///etc/passwd"></iframe>still here`,
  ),
  "/pictures": html(`<img src="/picture.png"><p>text</p>`),
  "/echo-agent": html(
    `<p id=agent></p><script>agent.textContent = navigator.userAgent + " " + innerWidth + "x" + innerHeight</script>`,
  ),
  "/other-origin": html(`<img src="http://localhost:PORT/picture.png"><img src="/picture.png">`),
};

/** Pages that are easy and hard to render. */
export async function startRenderSite(): Promise<RenderSite> {
  const requests: RenderSite["requests"] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    requests.push({ path, headers: request.headers });
    answer(path, request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };

  function answer(path: string, request: IncomingMessage, response: ServerResponse): void {
    const page = pages[path]?.replaceAll("PORT", String((server.address() as AddressInfo).port));
    if (page !== undefined) {
      response.writeHead(200, { "content-type": "text/html", "set-cookie": "a=b", etag: '"1"' }).end(page);
      return;
    }
    switch (path) {
      case "/moved":
        response.writeHead(301, { location: "/moved-again" }).end();
        return;
      case "/moved-again":
        response.writeHead(302, { location: "/page" }).end();
        return;
      case "/moved-to-file":
        response.writeHead(302, { location: "file:///etc/passwd" }).end();
        return;
      case "/moved-to-private":
        response.writeHead(302, { location: "http://10.0.0.1/" }).end();
        return;
      case "/moved-to-other-origin":
        response
          .writeHead(302, { location: `http://localhost:${String((server.address() as AddressInfo).port)}/page` })
          .end();
        return;
      case "/file":
        response.writeHead(200, {
          "content-type": "application/zip",
          "content-disposition": "attachment; filename=a.zip",
        });
        response.end("PK");
        return;
      case "/document.pdf":
        response.writeHead(200, { "content-type": "application/pdf" }).end("%PDF-1.4\n%%EOF\n");
        return;
      case "/endless":
        response.writeHead(200, { "content-type": "text/html" });
        response.write("<!doctype html><title>Endless</title><p>begun</p>");
        return;
      case "/part":
        response.writeHead(200, { "content-type": "text/plain" }).end("loaded after the page");
        return;
      case "/silent":
        return;
      case "/secret":
        if (request.headers.authorization === `Basic ${btoa("me:pass")}`)
          response.writeHead(200, { "content-type": "text/html" }).end(html("the secret"));
        else
          response
            .writeHead(401, { "www-authenticate": "Basic realm=x", "content-type": "text/html" })
            .end(html("denied"));
        return;
      case "/empty-error":
        response.writeHead(500).end();
        return;
      case "/nothing":
        response.writeHead(204).end();
        return;
      case "/headers":
        response
          .writeHead(200, { "content-type": "text/html" })
          .end(html(`<pre id=headers>${JSON.stringify(request.headers)}</pre>`));
        return;
      default:
        response.writeHead(404, { "content-type": "text/html" }).end(html("<h1>Not here</h1>"));
    }
  }
}
