import { eventuallyPasses } from "@shoal/testkit";
import { expect } from "vitest";
import { serveSite } from "./site.ts";

/** Where the first script of a document or worker runs. */
export const places = ["page", "frame", "foreign", "popup", "worker", "shared", "service"] as const;
export type ReportingPlace = (typeof places)[number];

/** What a script sees first; also in workers. */
const look = `(() => {
  const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return {
    timezone: timeZone,
    offset: new Date(2026, 0, 1).getTimezoneOffset(),
    locale,
    number: (1234.5).toLocaleString(),
    languages: navigator.languages.join(),
    ...(globalThis.matchMedia && {
      dark: matchMedia("(prefers-color-scheme: dark)").matches,
      still: matchMedia("(prefers-reduced-motion: reduce)").matches,
      notifications: Notification.permission,
    }),
  };
})()`;

const report = (place: ReportingPlace) =>
  `fetch("/report?place=${place}&seen=" + encodeURIComponent(JSON.stringify(${look})));`;

/** Each document and worker reports what its first script sees. `/` opens one of every place. */
export async function serveReports() {
  // Another address starts the service worker again.
  let run = 0;
  const seen = new Map<string, Readonly<Record<string, unknown>>>();
  const site = await serveSite((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://site");
    const place = pathname === "/" ? "page" : pathname.slice(1).replace(".js", "");
    if (pathname === "/report") {
      const { host = "" } = request.headers;
      const json = JSON.parse(searchParams.get("seen") ?? "{}") as Record<string, unknown>;
      seen.set(searchParams.get("place") ?? "", {
        ...json,
        accepted: request.headers["accept-language"],
        isForeign: host.startsWith("localhost"),
      });
      response.writeHead(204).end();
      return;
    }
    if (!(places as readonly string[]).includes(place)) {
      response.writeHead(404).end();
      return;
    }
    if (pathname.endsWith(".js")) {
      response.writeHead(200, { "content-type": "text/javascript" }).end(report(place as ReportingPlace));
      return;
    }
    const foreign = `http://localhost:${site.host.split(":")[1] ?? ""}/foreign`;
    const opens =
      place === "page"
        ? `open("/popup"); new Worker("/worker.js"); globalThis.shared = new SharedWorker("/shared.js"); navigator.serviceWorker.register("/service.js?run=${String(run)}");`
        : "";
    response
      .writeHead(200, { "content-type": "text/html; charset=utf-8" })
      .end(
        `<!doctype html><title>${place}</title><script>${report(place as ReportingPlace)}${opens}</script>${place === "page" ? `<iframe src="/frame"></iframe><iframe src="${foreign}"></iframe>` : ""}`,
      );
  });
  return {
    ...site,
    /** Forgets reports, calls `open`, and waits until every place has reported. */
    async reports(open: () => Promise<unknown>): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
      seen.clear();
      run++;
      await open();
      await eventuallyPasses(() => {
        expect([...seen.keys()].sort()).toEqual([...places].sort());
      });
      return seen;
    },
  };
}
