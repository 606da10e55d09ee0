import { Shoal } from "@shoal/client";
import { createFakeShoal } from "@shoal/testing";
import { describeService } from "./describe-service.ts";

describeService("the fake of @shoal/testing", async () => {
  const { apiKey, baseUrl, fetch } = createFakeShoal();
  return {
    shoal: new Shoal({ apiKey, baseUrl, fetch }),
    apiKey,
    baseUrl,
    fetch,
    clientWith: (options) => new Shoal({ apiKey, baseUrl, fetch, ...options }),
    enforcesPermissions: true,
    close: () => Promise.resolve(),
  };
});
