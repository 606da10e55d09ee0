import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const style = `:root{font:16px/1.5 system-ui,sans-serif;color:#1c2b33}body{margin:0;background:#f4f6f8}
header{display:flex;gap:28px;align-items:center;padding:16px 40px;background:#16324f;color:#fff}header b{font-size:20px;margin-right:12px}header span{opacity:.8}
main{max-width:1080px;margin:32px auto;padding:0 32px}h1{font-size:28px;margin:0 0 20px}
.cards{display:grid;grid-template-columns:repeat(3,1fr);gap:18px;margin-bottom:28px}.card{background:#fff;border:1px solid #dde4ea;border-radius:12px;padding:18px 20px}
.card b{display:block;font-size:26px}.card img{width:100%;height:120px;object-fit:contain}table{width:100%;border-collapse:collapse;background:#fff;border:1px solid #dde4ea;border-radius:12px}
td,th{padding:12px 18px;text-align:left;border-bottom:1px solid #e8edf1}th{color:#5a6b78;font-weight:600}i{font-style:normal;padding:3px 10px;border-radius:20px;background:#dff3e4;color:#17612f}i.due{background:#fdeccd;color:#7a4a00}
button{font:inherit;margin-top:20px;padding:11px 24px;border:0;border-radius:8px;background:#1769aa;color:#fff}`;

const orders = [
  [1042, "Ada Lovelace", "Three oak chairs", "paid", "€ 447.00"],
  [1043, "Grace Hopper", "One round table", "due", "€ 620.00"],
  [1044, "Alan Turing", "Two desk lamps", "paid", "€ 138.00"],
  [1045, "Edith Clarke", "Book shelf, birch", "paid", "€ 289.00"],
] as const;

const row = ([id, name, goods, state, price]: (typeof orders)[number]): string =>
  `<tr><td>${id}</td><td>${name}</td><td>${goods}</td><td><i class="${state}">${state}</i></td><td>${price}</td></tr>`;

const product = (name: string, color: string, price: string): string =>
  `<div class="card"><img src="/images/${color}.svg" alt=""><h3>${name}</h3>${price}</div>`;

const pages: Readonly<Record<string, readonly [title: string, html: string]>> = {
  "/orders": [
    "Open orders",
    `<h1>Open orders</h1><div class="cards"><div class="card"><b>4</b>open</div><div class="card"><b>1</b>waiting for payment</div><div class="card"><b>€ 1,494</b>in all</div></div>
<table><tr><th>Order</th><th>Customer</th><th>Goods</th><th>Status</th><th>Price</th></tr>${orders.map(row).join("")}</table><button>Ship the next order</button>
<script src="/app.js"></script>`,
  ],
  "/catalog": [
    "Catalog",
    `<h1>Catalog</h1><div class="cards">${product("Oak chair", "8d6e45", "€ 149")}${product("Round table", "2f6f62", "€ 620")}${product("Desk lamp", "c28a1b", "€ 69")}${product("Book shelf", "6b4a7d", "€ 289")}${product("Stool", "a8483b", "€ 59")}${product("Bench", "31597d", "€ 210")}</div>`,
  ],
  "/invoices": [
    "Invoices",
    `<h1>Invoices of November</h1><table><tr><th>Number</th><th>Customer</th><th></th><th>Status</th><th>Amount</th></tr>${orders.map(row).join("")}</table><button>Download all</button>`,
  ],
  "/chairs": [
    "Order chairs",
    `<h1>Oak chair, € 149</h1><div class="card" style="display:grid;grid-template-columns:1fr 1fr;gap:32px"><img style="height:300px" src="/images/8d6e45.svg" alt="">
<form style="display:grid;gap:6px;font-size:20px" onsubmit="event.preventDefault();this.remove();document.querySelector('[role=status]').textContent='Thank you, '+this.name.value+'. Order 1046 arrives on Friday.'">
<label for="count">Chairs</label><select id="count"><option>1<option>2<option>4</select><label for="name">Deliver to</label><input id="name">
<label><input type="checkbox" id="gift"> Wrap as a gift</label><button>Order now</button></form></div>
<style>main select,main input:not([type]){font:inherit;padding:8px 12px;border:1px solid #b9c4cc;border-radius:8px}[type=checkbox]{scale:1.5;margin:0 8px}main [role=status]{font-size:26px}</style><p role="status"></p>`,
  ],
  "/checkout": [
    "Checkout",
    `<h1>Checkout</h1><div class="card"><h3>One round table</h3>€ 620.00<p>Payment by card ending in 4242.</p><button>Pay now</button></div>
<script>fetch("/api/payments",{method:"POST",body:"{\\"order\\":1043}"}).then((r)=>{if(!r.ok)console.error("payment failed: the server answered "+r.status)})</script>`,
  ],
};

/** Answers of the parts of pages, by path. */
const parts: Readonly<Record<string, readonly [status: number, type: string, body: string]>> = {
  "/style.css": [200, "text/css", style],
  "/app.js": [
    200,
    "text/javascript",
    `const load = async () => { const orders = await (await fetch("/api/orders?open=1")).json(); console.log(orders.length + " open orders"); console.warn("order 1043 is not paid");
const answer = await fetch("/api/stock/1043"); if (!answer.ok) console.error("stock service: " + answer.status); };
document.querySelector("button").addEventListener("click", () => { console.log("shipping order 1042"); fetch("/api/shipments", { method: "POST", body: JSON.stringify({ order: 1042 }) }); }); load();`,
  ],
  "/api/orders": [200, "application/json", JSON.stringify(orders.map(([id, customer]) => ({ id, customer })))],
  "/api/stock/1043": [503, "application/json", '{"error":"The stock service does not answer."}'],
  "/api/shipments": [201, "application/json", '{"shipment":"S-20871"}'],
  "/api/payments": [502, "application/json", '{"error":"The payment provider does not answer."}'],
};

/** A shop at `http://shop.example`, which sessions reach through its own proxy. */
export interface Shop {
  readonly proxy: {
    readonly type: "custom";
    readonly protocol: "http";
    readonly config: { readonly host: string; readonly port: number };
  };
  /** `127.0.0.1:PORT`, for `--allow-private-hosts`. It also receives webhooks, at `/hooks` and `/broken`. */
  readonly host: string;
  close(): void;
}

export const shopUrl = "http://shop.example";

export async function serveShop(): Promise<Shop> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    proxy: { type: "custom", protocol: "http", config: { host: "127.0.0.1", port } },
    host: `127.0.0.1:${String(port)}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const { pathname } = new URL(request.url ?? "/", shopUrl);
  const page = pages[pathname];
  const part = parts[pathname];
  const send = (status: number, type: string, body: string) =>
    response.writeHead(status, { "content-type": type }).end(body);
  if (page !== undefined)
    send(
      200,
      "text/html; charset=utf-8",
      `<!doctype html><title>${page[0]}</title><link rel="stylesheet" href="/style.css">
<header><b>Harbour Furniture</b><span>Orders</span><span>Catalog</span><span>Invoices</span></header><main>${page[1]}</main>`,
    );
  else if (part !== undefined) setTimeout(() => send(...part), pathname.startsWith("/api/") ? 120 : 15);
  else if (pathname.startsWith("/images/"))
    send(
      200,
      "image/svg+xml",
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 100"><rect x="35" y="10" width="90" height="80" rx="10" fill="#${pathname.slice(8, 14)}"/></svg>`,
    );
  else send(pathname === "/hooks" ? 200 : pathname === "/broken" ? 500 : 404, "text/plain", "");
}
