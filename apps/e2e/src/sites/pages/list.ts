import { html, redirect } from "../hosting/exchange.ts";
import { markup } from "../hosting/markup.ts";
import { Site } from "../hosting/site.ts";
import { deadEnds, logins } from "../logins.ts";
import type { PushSite } from "./factors.ts";

/** A page for people that lists the sites, with passwords, sent codes and links, and the app of the push site. */
export function listSite(all: ReadonlyMap<string, Site>, push: PushSite): Site {
  const rows = () =>
    logins.map(({ site, path, values, needs, accountsOf }) => {
      const { origin } = all.get(`${site}.test`) ?? { origin: "" };
      const { code, link } =
        all
          .get(accountsOf ?? `${site}.test`)
          ?.messages()
          .at(-1) ?? {};
      const typed = Object.entries(values).map(([name, value]) => markup`${name}: <code>${value}</code><br>`);
      const sent = link === undefined ? markup`<code>${code}</code>` : markup`<a href="${link}">link</a>`;
      return markup`<tr><td><a href="${origin}${path}" target="_blank">${site}</a></td><td>${typed}</td><td>${needs.join(", ")}</td><td>${sent}</td></tr>`;
    });
  const deadRows = deadEnds.map(
    ({ site, path, error }) =>
      markup`<tr><td><a href="https://${site}.test${path}" target="_blank">${site}${path}</a></td><td colspan="3">${error}</td></tr>`,
  );
  return new Site({
    host: "sites.test",
    routes: () => ({
      "GET /": () =>
        html(
          markup`<html lang="en"><head><title>Login sites</title><style>body { font: 15px system-ui; margin: 24px; } td { border-top: 1px solid #ccc; padding: 4px 12px; vertical-align: top; }</style></head><body><h1>Login sites</h1><p>Reload this page for the latest code or link.</p><form method="post" action="/approve">Number that push.test shows: <input name="number" size="3"> <button>Approve</button></form><table><tr><th>site</th><th>values</th><th>further steps</th><th>sent</th></tr>${rows()}${deadRows}</table></body></html>`,
        ),
      "POST /approve": (request) => {
        push.approve(request.field("number"));
        return redirect("/");
      },
    }),
  });
}
