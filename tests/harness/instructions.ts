/** Beginnings of functions by what `lib/programs/site.ts` says of them, on kernels of all ages unless a name says otherwise. */
export const emulated = ["55", "41 57", "53 48", "90", "f3 90", "e9 00 00 00 00", "eb 02", "e8 00 00 00 00", "74 05", "0f 84 00 00 00 00"];
export const stepped = [
  ...["f3 0f 1e fa", "48 83 ec 08", "48 8d 05 00 00 00 00", "89 ff", "41 89 ff", "49 90", "49 57", "66 55", "c3", "0f b6 07"],
  ...["c5 f8 57 c0", "c4 c1 7a 10 00"],
];
export const nops = ["0f 1f 00", "0f 1f 40 00", "0f 1f 44 00 00", "66 0f 1f 44 00 00", "0f 1f 80 00 00 00 00", "0f 1f 84 00 00 00 00 00"];
export const refused = [
  ...["cc", "f4", "0f 05", "0f 0b", "f0 48 0f b1 0f", "2e 90", "66 e8 00 00", "cd 80", "fa", "e4 10"],
  ...["c5 f8 77", "c5 f8 c2 c1 00", "c4 e2 7d 18 07", "c5 f9 ef c0", "62 f1 7c 48 57 c0"],
];
/** Cheap on newer kernels, and refused by older ones. */
export const shortNop = "66 90";
