import { testsOf } from "../../vitest.project.ts";

// Its files replace `fetch` and start many programs; loading modules is a small part of their time.
export default testsOf("e2e", { isolate: true });
