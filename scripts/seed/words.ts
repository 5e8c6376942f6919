// Random names, titles and texts for the rows of population.ts. A change of the order of the words in a list, or of the random draws, changes
// the seeded rows of the tables that use them.
import type { Random } from "./random.ts";

const firstNames =
  "Amara Anton Asha Beatriz Bruno Carla Chen Dalia Daniel Elif Emeka Farah Felix Giulia Hanna Hiro Ines Ivan Jana Jonas Kaya Kofi Lena Luca Maya Mei Mikael Nadia Noor Olga Oscar Paula Pedro Priya Rafael Rosa Samir Sara Selma Tariq Tomas Uma Vera Victor Wanda Yara Yusuf Zoe".split(
    " ",
  );
const lastNames =
  "Abbott Adeyemi Almeida Andersson Baker Banerjee Becker Castro Chen Costa Diaz Dubois Eriksen Farkas Fischer Garcia Haddad Hansen Hughes Ibrahim Ito Jansen Kaplan Keller Kim Kovacs Larsen Lopez Martin Mensah Moreau Nakamura Nguyen Novak Okafor Olsen Patel Petrov Rahman Rossi Sato Schmidt Silva Tanaka Torres Varga Weber Yilmaz".split(
    " ",
  );
const crafts = [
  "bread",
  "bicycles",
  "gardens",
  "old maps",
  "small boats",
  "stone walls",
  "clocks",
  "radio sets",
  "bees",
  "paper",
  "violins",
  "kites",
  "cheese",
  "dyes",
  "timber frames",
  "tide tables",
];
const settings = [
  "the harbour",
  "a northern village",
  "the allotments",
  "my grandmother's workshop",
  "the night train",
  "an island",
  "the old library",
  "a city roof",
  "the river bank",
  "a school cellar",
];
const titles: readonly ((random: Random) => string)[] = [
  (random) => `What ${random.pick(crafts)} taught me about patience`,
  (random) => `A year of ${random.pick(crafts)} in ${random.pick(settings)}`,
  (random) => `Mending ${random.pick(crafts)}: notes from ${random.pick(settings)}`,
  (random) => `${capitalize(random.pick(crafts))} for people who have no time`,
  (random) => `The quiet economics of ${random.pick(crafts)}`,
  (random) => `Seven mistakes with ${random.pick(crafts)}, and one that I would make again`,
  (random) => `Letters from ${random.pick(settings)}: ${random.pick(crafts)}`,
  (random) => `Why no one in ${random.pick(settings)} throws ${random.pick(crafts)} away`,
];
const openings = [
  "Last spring",
  "For a long time",
  "On most mornings",
  "Before the rain came",
  "When the shop closed",
  "In the first week",
  "As so often",
  "Two winters ago",
];
const actors = [
  "my neighbour",
  "an apprentice",
  "the whole street",
  "a retired engineer",
  "my sister",
  "the woman at the counter",
  "half the village",
  "no one but me",
];
const deeds = [
  "took the whole thing apart",
  "kept a careful list",
  "asked the right question",
  "refused to buy a new one",
  "measured everything twice",
  "laughed, and showed me how",
  "gave up too early",
  "started again from the beginning",
];
const turns = [
  "and it changed how I work",
  "although it cost a day",
  "which no one had expected",
  "and I have the pictures to prove it",
  "because there was no other way",
  "and the result still stands",
  "while the kettle boiled",
  "so we wrote it down",
];
const remarks = [
  "This is exactly what I needed today.",
  "I tried it, and it holds.",
  "We did the same with a friend; it took longer.",
  "Do you have a drawing of the third step?",
  "My father would have disagreed, and been wrong.",
  "Careful with the second part: mine cracked.",
  "Thank you for writing this down.",
  "I read it twice. The ending is the best part.",
  "Is there a version for small hands?",
  "The photograph made me laugh.",
];
const things = [
  "Handbook",
  "Almanac",
  "Calendar",
  "Print",
  "Pocket Guide",
  "Field Notes",
  "Workbook",
  "Poster",
  "Reader",
];

export const personName = (random: Random) => `${random.pick(firstNames)} ${random.pick(lastNames)}`;
export const postTitle = (random: Random) => random.pick(titles)(random);
export const productTitle = (random: Random) => `The ${capitalize(random.pick(crafts))} ${random.pick(things)}`;

/** One or two remarks (an equal second one is omitted), in 40 % of the comments followed by a sentence. */
export function commentBody(random: Random): string {
  const sentences = Array.from({ length: random.integer(1, 2) }, () => random.pick(remarks));
  if (random.next() < 0.4) sentences.push(sentence(random));
  return [...new Set(sentences)].join(" ");
}

/** Two to five paragraphs. */
export function postBody(random: Random): string {
  return Array.from({ length: random.integer(2, 5) }, () => paragraph(random)).join("\n\n");
}

/** Three to six sentences. */
function paragraph(random: Random): string {
  return Array.from({ length: random.integer(3, 6) }, () => sentence(random)).join(" ");
}

/** Opening, actor, deed, comma, turn: "Last spring my neighbour gave up too early, so we wrote it down." */
function sentence(random: Random): string {
  return `${random.pick(openings)} ${random.pick(actors)} ${random.pick(deeds)}, ${random.pick(turns)}.`;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
