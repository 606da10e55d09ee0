import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Shoal demo: invoices</title>
<style>
  body { font: 18px/1.5 system-ui, sans-serif; margin: 4rem auto; max-width: 44rem; color: #123; background: #f4f8fa; }
  h1 { font-size: 2rem } table { border-collapse: collapse; width: 100%; background: #fff } td, th { padding: .6rem 1rem; border-bottom: 1px solid #d5e2e8; text-align: left }
  button { font: inherit; padding: .6rem 1.4rem; border: 0; border-radius: .4rem; background: #0b6b8a; color: #fff; margin-top: 1.5rem }
  output { margin-left: 1rem }
</style>
<h1>Invoices</h1>
<table><tr><th>Number</th><th>Month</th><th>Total</th></tr>
<tr><td>2026-001</td><td>January</td><td>€ 1,204.00</td></tr>
<tr><td>2026-002</td><td>February</td><td>€ 980.50</td></tr>
<tr><td>2026-003</td><td>March</td><td>€ 1,377.20</td></tr></table>
<button>Download all</button><output></output>
<script>
  document.querySelector("button").addEventListener("click", async () => {
    for (const number of ["2026-001", "2026-002", "2026-003"]) {
      const link = document.createElement("a");
      link.href = "/invoices/" + number + ".csv";
      link.download = number + ".csv";
      document.body.append(link);
      link.click();
      link.remove();
      await new Promise((resolve) => setTimeout(resolve, 120));
    }
    document.querySelector("output").textContent = "3 files on their way";
  });
</script>
</html>`;

/** Serves the demo's site on a free port of this machine: a page with three files to download. */
export async function startShop(): Promise<{ url: string; host: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const invoice = /^\/invoices\/([\d-]+)\.csv$/.exec(request.url ?? "");
    if (invoice?.[1] !== undefined) {
      response.writeHead(200, {
        "content-type": "text/csv",
        "content-disposition": `attachment; filename="${invoice[1]}.csv"`,
      });
      response.end(`number,item,total\n${invoice[1]},subscription,100.00\n`.repeat(200));
    } else if (request.url === "/") response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url: `http://${host}/`,
    host,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
