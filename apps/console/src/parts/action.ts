import { type QueryKey, useMutation, type UseMutationResult, useQueryClient } from "@tanstack/react-query";
import { tell, tellFailure } from "./notices.ts";

interface ActionOptions<Input, Result> {
  readonly act: (input: Input) => PromiseLike<Result>;
  /** Text of the notice after it worked. */
  readonly told?: ((result: Result, input: Input) => string) | undefined;
  /** Runs before the queries are read again, so that the page of a deleted resource can be left. */
  readonly done?: ((result: Result, input: Input) => unknown) | undefined;
  /** Queries whose answers change, by the start of their key. */
  readonly changes: readonly QueryKey[];
}

/** A change without a form: a notice reports its success or failure. */
export function useAction<Input = void, Result = void>({
  act,
  told,
  done,
  changes,
}: ActionOptions<Input, Result>): UseMutationResult<Result, Error, Input> {
  const queries = useQueryClient();
  return useMutation<Result, Error, Input>({
    mutationFn: async (input) => act(input),
    async onSuccess(result, input) {
      if (told !== undefined) tell(told(result, input));
      await done?.(result, input);
    },
    onError: tellFailure,
    onSettled: async () => {
      await Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey })));
    },
  });
}
