import * as placement from "./index.ts";
import { expect, it } from "vitest";

it("exports exactly the public API", () => {
  expect(Object.keys(placement).sort()).toEqual([
    "AnswerProblem",
    "FrontPage",
    "InstanceRefusal",
    "Pace",
    "PlacementError",
    "answerBytes",
    "answerJson",
    "answerText",
    "assignInstance",
    "callInstance",
    "checkAnswer",
    "checkPrivateHosts",
    "createEgressProbe",
    "createOutboundRule",
    "createPlacement",
    "errorBodyOf",
    "examineDocker",
    "examineHost",
    "examineKubernetes",
    "findChromium",
    "guardedLookup",
    "identityOf",
    "isRunning",
    "locateFullChromium",
    "processNamespace",
    "renderPage",
    "streamFromInstance",
    "warmRoom",
    "withAcquire",
  ]);
});
