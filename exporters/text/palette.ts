import { styleText } from "node:util";

/** What is coloured, by meaning. Without colour each returns its text: nothing may be told by colour alone. */
export interface Palette {
  title(text: string): string;
  quiet(text: string): string;
  bar(text: string): string;
  longest(text: string): string;
  warning(text: string): string;
}

type Style = Parameters<typeof styleText>[0];

export function palette(colour: boolean): Palette {
  // Whether to colour was decided by who knows the terminal.
  const style = (how: Style) => (text: string) => colour && text !== "" ? styleText(how, text, { validateStream: false }) : text;
  return { title: style("bold"), quiet: style("dim"), bar: style("cyan"), longest: style("yellow"), warning: style(["bold", "yellow"]) };
}
