import type { SettledPage } from "@shoal/instance";
import { expect, it } from "vitest";
import { judge, readPage } from "../index.ts";
import { loadOutline } from "../testing/saved-pages.ts";

const settled: SettledPage = {
  quiet: true,
  url: "https://popup-provider.test/",
  host: "popup-provider.test",
  status: 200,
  navigations: [],
  requests: [],
  dialogs: [],
  passkey_calls: [],
  changed_cookies: [{ name: "oauth_state", http_only: true }],
};
const sent = { signature: "https://accounts.google.com/", kinds: ["password"], message: undefined, texts: [] } as const;

it("does not take a page that still offers a provider for signed in", () => {
  const offer = readPage(loadOutline("popup-provider-1"));
  expect(offer.providers).toHaveLength(1);
  expect(judge(offer, settled, sent)).toEqual({ kind: "nothing" });
  const unknown = { ...offer, providers: [] };
  expect(judge(unknown, settled, sent)).toEqual({ kind: "signed_in", isSure: false });
});
