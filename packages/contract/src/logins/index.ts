export { EnteredValues, nameOfEntered } from "./entered-values.ts";
export {
  answerMs,
  firstState,
  type FlowError,
  type FlowInput,
  flowMs,
  type FlowState,
  type FlowStatus,
  type FlowStep,
  nextState,
} from "./flow-state.ts";
export { type AskedChoice, type AskedField, type Question, type ShownQuestion, shownQuestion } from "./question.ts";
export { type LoginAddresses, loginEvent, loginFields, type ShownLogin } from "./shown-login.ts";
export { type Answer, answerTo, type Unfit } from "./submitted-answer.ts";
