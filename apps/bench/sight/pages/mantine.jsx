import "@mantine/core/styles.css";
import "@mantine/dates/styles.css";
import * as M from "@mantine/core";
import { DateInput } from "@mantine/dates";
import { useDisclosure } from "@mantine/hooks";
import { done, show } from "./show.jsx";

const colours = ["Red", "Green", "Blue"];

function Drawer() {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <M.Button onClick={open}>Basket</M.Button>
      <M.Drawer opened={opened} onClose={close} title="Your basket">
        <M.Select label="Shipping" data={["Slow", "Fast"]} onChange={done} />
      </M.Drawer>
    </>
  );
}

show(
  {
    select: () => <M.Select label="Colour" data={colours} onChange={done} />,
    "multi select": () => <M.MultiSelect label="Colours" data={colours} onChange={(v) => done(v.join())} />,
    "tags input": () => <M.TagsInput label="Tags" onChange={(v) => done(v.join())} />,
    "pin input": () => <M.PinInput length={4} onChange={done} />,
    "segmented control": () => <M.SegmentedControl data={["List", "Map"]} onChange={done} />,
    "date input": () => <DateInput label="Arrival" defaultDate="2027-05-01" onChange={done} />,
    "color input": () => <M.ColorInput label="Paint" defaultValue="#ffffff" onChange={done} />,
    "chip group": () => (
      <M.Chip.Group onChange={done}>
        <M.Chip value="wifi">Wifi</M.Chip>
        <M.Chip value="pool">Pool</M.Chip>
      </M.Chip.Group>
    ),
    stepper: () => (
      <M.Stepper active={0} onStepClick={done}>
        <M.Stepper.Step label="Account" />
        <M.Stepper.Step label="Address" />
        <M.Stepper.Step label="Payment" />
      </M.Stepper>
    ),
    drawer: Drawer,
  },
  ({ children }) => <M.MantineProvider>{children}</M.MantineProvider>,
);
