import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { Search } from "lucide-react";
import { useState } from "react";

const typingMs = 250;

interface SearchFieldProps {
  /** `Search by name or id`. */
  readonly label: string;
  readonly value: string | undefined;
  /** Called when the person pauses; `undefined` for an empty field. */
  readonly change: (value: string | undefined) => void;
}

/** The search of a page; `/` moves the focus to it. */
export function SearchField({ label, value = "", change }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const report = useDebouncedCallback(change, typingMs);
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      leftSection={<Search size={16} aria-hidden />}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        report(currentTarget.value === "" ? undefined : currentTarget.value);
      }}
      data-search
      style={{ flex: "1 1 300px" }}
      maw={{ sm: 340 }}
    />
  );
}
