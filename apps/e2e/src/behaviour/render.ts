import { describe, expect, it } from "vitest";
import { codeOf } from "../testing/refusal.ts";
import type { ServiceUnderTest } from "./open-service.ts";

export function describeRender(test: ServiceUnderTest): void {
  describe("rendered pages", () => {
    it("have the outputs of the request, and no session afterwards", async () => {
      const { browsers } = test.shoal;
      const page = await browsers.render({ html: "<title>Mine</title><p>hello</p>", outputs: ["text"], pdf: {} });
      expect(page).toMatchObject({ url: "about:blank", title: "Mine", text: "hello", redirects: [], timed_out: false });
      expect(page.pdf?.content_type).toBe("application/pdf");
      expect(page).not.toHaveProperty("markdown");
      expect((await browsers.render({ html: "<p>hello</p>" })).markdown).toContain("hello");
      expect((await browsers.get(page.session_id, { include_deleted: true })).ended_reason).toBe("deleted");
      expect(await codeOf(browsers.render({}))).toBe("400 bad_request");
      expect(await codeOf(browsers.render({ url: "file:///etc/passwd" }))).toBe("400 bad_request");
      expect(await codeOf(browsers.render({ html: "x", url: "https://a.example/" }))).toBe("400 bad_request");
      expect(await codeOf(browsers.render({ html: "x", profile: { name: test.unique("none") } }))).toBe(
        "404 not_found",
      );
    });
  });
}
