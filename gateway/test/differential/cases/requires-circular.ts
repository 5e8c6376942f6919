import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const pupils = [
  { id: "1", teacher: { id: "t1" } },
  { id: "2", teacher: { id: "t2" } },
];
const teachers = [
  { id: "t1", years: 2 },
  { id: "t2", years: 30 },
];
const ids = pupils.map(({ id }) => ({ id }));
const isNew = ({ teacher }: { teacher: { years: number } }) => teacher.years < 5;
const needsHelp = (pupil: { hasNewTeacher: boolean }) => pupil.hasNewTeacher;

/** One subgraph requires a field of the other, which in turn requires a field of the first, of another entity. */
export const requiresCircular: SupergraphCase = {
  name: "requires-circular",
  subgraphs: [
    {
      name: "school",
      typeDefs: `
        type Query { pupils: [Pupil!] }
        type Pupil @key(fields: "id") {
          id: ID! hasNewTeacher: Boolean! @external
          needsHelp: Boolean! @requires(fields: "hasNewTeacher")
        }
        type Teacher @key(fields: "id") { id: ID! years: Int! }
      `,
      resolvers: {
        Query: { pupils: () => ids },
        Pupil: { __resolveReference: findIn(ids, "id"), needsHelp },
        Teacher: { __resolveReference: findIn(teachers, "id") },
      },
    },
    {
      name: "timetable",
      typeDefs: `
        type Pupil @key(fields: "id") {
          id: ID! teacher: Teacher!
          hasNewTeacher: Boolean! @requires(fields: "teacher { years }")
        }
        type Teacher @key(fields: "id") { id: ID! years: Int! @external }
      `,
      resolvers: { Pupil: { __resolveReference: findIn(pupils, "id"), hasNewTeacher: isNew } },
    },
  ],
  monolith: {
    Query: { pupils: () => pupils },
    Pupil: {
      teacher: ({ teacher }: { teacher: { id: string } }) => teachers.find(({ id }) => id === teacher.id),
      hasNewTeacher: ({ id }: { id: string }) => id === "1",
      needsHelp: ({ id }: { id: string }) => id === "1",
    },
  },
  stockDiffers: { colliding: "an alias with the name of a key or required field is taken for that field" },
  cases: [
    {
      name: "a required field is fetched before the field that requires it",
      query: "{ pupils { hasNewTeacher } }",
      expected: { data: { pupils: [{ hasNewTeacher: true }, { hasNewTeacher: false }] } },
    },
    {
      name: "and in the other direction, with the fields in between",
      query: "{ pupils { needsHelp teacher { id } } }",
      expected: {
        data: {
          pupils: [
            { needsHelp: true, teacher: { id: "t1" } },
            { needsHelp: false, teacher: { id: "t2" } },
          ],
        },
      },
    },
  ],
};
