"""How the pixel critic looks: a picture is compared with the drawing it should be, and the difference explained."""
