import { testsOf } from "../../vitest.project.ts";

export default testsOf("testkit");
