const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const specialCharacters = /[&<>"']/g;
const lineBreak = /\r\n|\r|\n/;

/** Blank lines separate paragraphs. Markdown is not rendered, and every special character is escaped: no sanitizing is needed. */
export function renderHtml(text: string): string {
  const escapedText = text.replaceAll(specialCharacters, (character) => entities[character] ?? "");
  // The lines of each paragraph. Consecutive blank lines, and blank lines at the beginning or the end, make empty paragraphs.
  const paragraphs: string[][] = [[]];
  for (const line of escapedText.split(lineBreak)) {
    if (line.trim() === "") paragraphs.push([]);
    else paragraphs.at(-1)?.push(line.trim());
  }
  const nonEmptyParagraphs = paragraphs.filter((lines) => lines.length > 0);
  return nonEmptyParagraphs.map((lines) => `<p>${lines.join("<br>")}</p>`).join("");
}
